"""The actuators that an asset's own file defines, as a Pippin actuator: their inputs are set, as MuJoCo's `ctrl`."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from attrs.validators import min_len
from pippin.actuation import parameter

__all__ = ["ControlConfig"]


@attrs.frozen(kw_only=True)
class ControlConfig:
    """Inputs of the actuators that the asset's file defines, in the units that MuJoCo's `ctrl` has.

    The input of a position servo is a position [m or rad], that of a velocity servo a velocity [m/s or rad/s], that of
    a motor an effort before its gear [N or N·m].
    """

    implementation = ".actuator:ActuatorControl"

    actuators: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Full-match regular expressions of names of actuators; of whole labels if they contain a `/`."""

    ctrl: float | Mapping[str, float] | None = parameter(default=None)
    """Inputs at the start, for all actuators or by pattern; by default those of the model, which are zero."""
