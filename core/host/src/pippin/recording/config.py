"""The settings that every recorder has in common, and those of recorders of whole episodes."""

from __future__ import annotations

from typing import Any, Literal

import attrs
from attrs.validators import ge, min_len, optional
from pippin.validators import non_negative, positive, slice_or_indices


@attrs.frozen(kw_only=True)
class RecorderConfig:
    """Settings of every recorder; each plugin adds its own."""

    worlds: str | tuple[int, ...] = attrs.field(default="0:1", validator=slice_or_indices)
    """Worlds to record: a slice as in Python (`"0:8"`, `"::2"`) or a list of indices. They must have the same
    contents."""

    period: float | None = attrs.field(default=None, validator=optional(positive))
    """Simulated time from one row to the next [s], a whole number of control steps; by default one control step."""

    series: tuple[str, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Channels to record: full-match regular expressions of the last part of a channel's name, or of the whole name if
    they contain a `/`. By default all channels except body poses, particles and contacts."""

    path: str = ""
    """File to write. A relative path is in the run folder. By default the label with the suffix of the format."""

    chunk_bytes: int = attrs.field(default=1_000_000, validator=ge(1))
    """Size of the buffer of rows [bytes], which is written when it is full; it holds at least one row."""

    flush_period: float = attrs.field(default=1.0, validator=non_negative)
    """Wall time after which rows are written although the buffer is not full [s]: the most that a killed run loses."""

    on_full: Literal["stop-recording", "stop-run"] = "stop-recording"
    """What happens if the disk is nearly full, before the file is damaged: `stop-recording` closes the file and
    continues the run without it, `stop-run` ends the run."""

    max_contacts: int = attrs.field(default=16, validator=ge(1))
    """Contacts of a world for which the channels `contacts/...` have room; `contacts/count` counts the others too."""


def _none(instance: Any, attribute: attrs.Attribute[Any], value: float | None) -> None:
    if value is not None:
        raise ValueError(
            f"'{attribute.name}' must be left out, as episodes have every control step: {value}; a longer control step"
            " is simulation.decimation"
        )


@attrs.frozen(kw_only=True)
class EpisodeRecorderConfig(RecorderConfig):
    """Settings of every recorder of whole episodes. Channels are chosen by patterns like those of `series`."""

    period: float | None = attrs.field(default=None, validator=_none)
    """Left out: episodes have a frame for each control step."""

    state: tuple[str, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Channels of the observed state, side by side. By default the task's group of observations `policy`, or its first
    one; without observations, `joint_q`."""

    environment_state: tuple[str, ...] = ()
    """Channels of the observed state of what is not the robot."""

    action: tuple[str, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Channels of the action. By default that of the task; without one, the position targets of all actuators."""

    images: tuple[str, ...] | None = None
    """Channels of images: outputs `color` or `albedo` of cameras. By default `color` of all cameras."""

    series: tuple[str, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Other channels, as they are before each step. By default `joint_q` and `joint_qd`, for `pippin replay`."""

    keep: Literal["all", "ended", "success", "asked"] = "all"
    """Which episodes are kept: `all`, those that the task `ended`, those of them that ended with its metric `success`,
    or those that are `asked` for, as by the buttons of `pippin teleoperate`."""
