"""Configurations of actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs
from pippin.validators import finite, ordered


@attrs.frozen(kw_only=True)
class ScaledConfig:
    """An action of an actuator group: target = offset + scale × clipped number."""

    actuator: str
    """Label of the group."""

    scale: float | Mapping[str, float] = attrs.field(default=1.0, validator=finite)
    """Factor of the numbers, for all of them or by pattern of names of joints or actuators."""

    clip: tuple[float, float] | None = attrs.field(default=None, validator=ordered)
    """Lowest and highest number; the targets follow clipped numbers, and the action space has these bounds. Rewards and
    observations of `last-action` have the numbers as they were given."""


@attrs.frozen(kw_only=True)
class JointTargetsConfig(ScaledConfig):
    """Position targets of an actuator group [rad, m]."""

    implementation = ".targets:JointTargets"

    offset: Literal["initial", "zero"] = "initial"
    """Position for the number zero: the initial one of each joint, or zero."""


@attrs.frozen(kw_only=True)
class JointVelocityTargetsConfig(ScaledConfig):
    """Velocity targets of an actuator group [rad/s, m/s]."""

    implementation = ".targets:JointVelocityTargets"


@attrs.frozen(kw_only=True)
class FeedforwardEffortsConfig(ScaledConfig):
    """Efforts that an actuator group adds to its law [N·m, N]."""

    implementation = ".targets:FeedforwardEfforts"


@attrs.frozen(kw_only=True)
class InputsConfig(ScaledConfig):
    """Inputs of the asset's own actuators."""

    implementation = ".targets:Inputs"
