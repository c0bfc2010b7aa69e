"""The settings of recordings in MCAP."""

from __future__ import annotations

from typing import Literal

import attrs
from pippin.recording import RecorderConfig


@attrs.frozen(kw_only=True)
class McapConfig(RecorderConfig):
    """Settings of the recorder `mcap`."""

    implementation = ".recorder:McapRecorder"
    extra = "mcap"

    scene: bool = True
    """Whether bodies and their shapes are recorded: the topics `/tf` and `/scene`, which 3-D panels show."""

    compression: Literal["zstd", "lz4"] | None = "zstd"
    """Compression of the chunks."""
