"""A DC motor under proportional-derivative control, as a Pippin actuator."""

from __future__ import annotations

import attrs
from pippin.actuation import ActuatorConfig, Parameter, parameter
from pippin.actuation.clampings import DCMotorConfig

__all__ = ["DCMotorDriveConfig"]


@attrs.frozen(kw_only=True)
class DCMotorDriveConfig(DCMotorConfig, ActuatorConfig):
    """PD control, c + f + kp (q* - q) + kd (q̇* - q̇), within the limits of a DC motor.

    c is `const_effort`, f the feedforward, q and q̇ position and velocity; the stars mark targets. With v = q̇ limited to
    ±`velocity_limit` (1 + `max_motor_effort` / `saturation_effort`), the effort lies between
    max(`saturation_effort` (-1 - v / `velocity_limit`), -`max_motor_effort`) and
    min(`saturation_effort` (1 - v / `velocity_limit`), `max_motor_effort`). Other clampings follow.
    """

    implementation = ".actuator:ActuatorDCMotor"

    kp: Parameter = parameter(minimum=0.0, default=0.0)
    """Proportional gain [N/m or N·m/rad], for all joints or by pattern."""

    kd: Parameter = parameter(minimum=0.0, default=0.0)
    """Derivative gain [N·s/m or N·m·s/rad], for all joints or by pattern."""

    const_effort: Parameter = parameter(default=0.0)
    """Effort that is always added [N or N·m], for all joints or by pattern."""
