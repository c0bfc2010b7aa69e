"""Configurations of actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs
from attrs.validators import ge, lt
from pippin.validators import finite, non_negative, ordered, positive


@attrs.frozen(kw_only=True)
class ScaledConfig:
    """An action of an actuator group: target = offset + scale × clipped number, or a moving average of it."""

    actuator: str
    """Label of the group."""

    scale: float | Mapping[str, float] = attrs.field(default=1.0, validator=finite)
    """Factor of the numbers, for all of them or by pattern of names of joints or actuators."""

    clip: tuple[float, float] | None = attrs.field(default=None, validator=ordered)
    """Lowest and highest number; the targets follow clipped numbers, and the action space has these bounds. Rewards and
    observations of `last-action` have the numbers as they were given."""

    smoothing: float = attrs.field(default=0.0, validator=[ge(0.0), lt(1.0)])
    """Share of the last target in the new one; the rest is that of the action. An episode begins with the targets that
    the reset has put back."""


@attrs.frozen(kw_only=True)
class JointTargetsConfig(ScaledConfig):
    """Position targets of an actuator group [rad, m]."""

    implementation = ".terms:JointTargets"

    offset: Literal["initial", "zero", "current"] = "initial"
    """Position for the number zero: the initial one of each joint; zero; or the present one, at the start of the
    control step, so that the numbers are steps."""


class JointVelocityTargetsConfig(ScaledConfig):
    """Velocity targets of an actuator group [rad/s, m/s]."""

    implementation = ".terms:JointVelocityTargets"


class FeedforwardEffortsConfig(ScaledConfig):
    """Efforts that an actuator group adds to its law [N·m, N]."""

    implementation = ".terms:FeedforwardEfforts"


@attrs.frozen(kw_only=True)
class ToolGoalsConfig:
    """Goals of tools: three numbers each for the place, and three for the orientation if it is asked."""

    implementation = ".terms:ToolGoals"

    controller: str
    """Label of the controller, or of an actuator group `operational-space`."""

    reference: Literal["goal", "start"] = "goal"
    """What the numbers are added to: the last goal, so that they are steps, or the place after the reset."""

    scale: float = attrs.field(default=1.0, validator=positive)
    """Distance for a number of one [m]."""

    rotation_scale: float = attrs.field(default=0.0, validator=non_negative)
    """Angle for a number of one [rad], about an axis of the world; 0 keeps the orientation, and takes three numbers."""

    clip: tuple[float, float] | None = attrs.field(default=None, validator=ordered)
    """Lowest and highest number; see the other actions."""


@attrs.frozen(kw_only=True)
class GripperConfig:
    """One number that opens a gripper, or closes it: its position targets are `open` above zero, else `closed`."""

    implementation = ".terms:Gripper"

    actuator: str
    """Label of the group of the fingers."""

    open: float | Mapping[str, float] = attrs.field(validator=finite)
    """Targets of the open gripper [m, rad], for all joints or by pattern."""

    closed: float | Mapping[str, float] = attrs.field(default=0.0, validator=finite)
    """Targets of the closed gripper, likewise."""


class InputsConfig(ScaledConfig):
    """Inputs of the asset's own actuators."""

    implementation = ".terms:Inputs"
