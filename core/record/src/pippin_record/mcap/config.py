"""The settings of recordings in MCAP."""

from __future__ import annotations

from typing import Literal

import attrs
from pippin.recording import RecorderConfig


@attrs.frozen(kw_only=True)
class McapConfig(RecorderConfig):
    """Recordings in MCAP, for Foxglove and other robot tools."""

    implementation = ".recorder:McapRecorder"
    extra = "mcap"

    scene: bool = True
    """Whether bodies with their shapes, matter and tendons are recorded, which 3-D panels show: the topics `/tf`,
    `/scene`, `/world_K/matter` and `/world_K/points/LABEL`."""

    compression: Literal["zstd", "lz4"] | None = "zstd"
    """Compression of the chunks."""


@attrs.frozen
class McapReaderConfig:
    """Settings of the reader `mcap`, for files of the recorder `mcap`."""

    implementation = ".file:McapFile"
