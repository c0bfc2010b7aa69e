"""The settings that recorders of whole episodes have in common."""

from __future__ import annotations

from typing import Any, Literal

import attrs
from attrs.validators import min_len, optional

from .config import RecorderConfig


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
