"""The settings of demonstrations in robomimic's layout."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs.validators import min_len
from pippin.recording import EpisodeRecorderConfig


@attrs.frozen(kw_only=True)
class RobomimicConfig(EpisodeRecorderConfig):
    """Demonstrations in the HDF5 of robomimic."""

    implementation = ".recorder:RobomimicRecorder"
    extra = "hdf5"

    env_name: str = attrs.field(default="pippin", validator=min_len(1))
    """Name of the environment, which robomimic reads."""

    compression: Literal["gzip"] | None = "gzip"
    """Compression of observations."""
