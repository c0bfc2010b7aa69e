"""The settings of recordings in HDF5."""

from __future__ import annotations

from typing import Literal

import attrs
from pippin.recording import RecorderConfig


@attrs.frozen(kw_only=True)
class Hdf5Config(RecorderConfig):
    """Recordings in HDF5, which most programs for analysis and learning read."""

    implementation = ".recorder:Hdf5Recorder"
    extra = "hdf5"

    compression: Literal["gzip"] | None = None
    """Compression of the datasets, by default none; `gzip` makes files smaller and writing slower."""
