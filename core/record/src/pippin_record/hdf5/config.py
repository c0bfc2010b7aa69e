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


@attrs.frozen
class Hdf5ReaderConfig:
    """Settings of the reader `h5`, for files of the recorder `hdf5`."""

    implementation = ".file:Hdf5File"
