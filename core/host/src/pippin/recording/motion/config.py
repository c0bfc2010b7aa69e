"""Settings of the motion `recording`."""

from __future__ import annotations

import attrs
from attrs.validators import ge, min_len, optional
from pippin import FilePath
from pippin.motions import SampledConfig


@attrs.frozen(kw_only=True)
class RecordingMotionConfig(SampledConfig):
    """Values at the times of a recording: a channel of a file that a recorder wrote, in any of its formats."""

    implementation = ".motion:RecordedMotion"

    path: FilePath
    """The recording, such as `recording.mcap`, `.h5` or `.npz`."""

    channel: str = attrs.field(validator=min_len(1))
    """Name of the channel, such as `joint_q` or `body_q`."""

    labels: tuple[str, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Entries of the channel by their labels, such as names of joints or of bodies; by default all, in their order."""

    world: int = attrs.field(default=0, validator=ge(0))
    """The world of the recorded run."""
