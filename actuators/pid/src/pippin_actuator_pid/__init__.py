"""Proportional-integral-derivative joint control, as a Pippin actuator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from pippin.actuation import ActuatorConfig, DriveActuator, Lanes, Parameter, parameter

if TYPE_CHECKING:
    from newton.actuators import DrivePID

__all__ = ["ActuatorPID", "PIDConfig"]


@attrs.frozen(kw_only=True)
class PIDConfig(ActuatorConfig):
    """PD and an integral that removes the error at rest: effort = c + f + kp (q* - q) + ki I + kd (q̇* - q̇).

    c is `const_effort`, f the feedforward, q and q̇ position and velocity; the stars mark targets. In each physics step
    of length h, I grows by (q* - q) h before it acts, and is limited to ±`integral_max`.
    """

    kp: Parameter = parameter(0.0, default=0.0)
    """Proportional gain [N/m or N·m/rad], for all joints or by pattern."""

    ki: Parameter = parameter(0.0, default=0.0)
    """Integral gain [N/(m·s) or N·m/(rad·s)], for all joints or by pattern."""

    kd: Parameter = parameter(0.0, default=0.0)
    """Derivative gain [N·s/m or N·m·s/rad], for all joints or by pattern."""

    integral_max: Parameter | None = parameter(0.0, default=None)
    """Largest magnitude of the integral itself, not of its effort [m·s or rad·s], likewise; by default no limit."""

    const_effort: Parameter = parameter(default=0.0)
    """Effort that is always added [N or N·m], for all joints or by pattern."""


class ActuatorPID(DriveActuator):
    """PID control of single-DOF joints, once per physics step; a reset sets the integrals of its worlds to zero."""

    Config = PIDConfig
    config: PIDConfig

    def build_drive(self, lanes: Lanes) -> DrivePID:
        """Return Newton's PID drive."""
        from newton.actuators import DrivePID

        config = self.config
        return DrivePID(
            kp=lanes.per_lane(config.kp, "kp", minimum=0.0),
            ki=lanes.per_lane(config.ki, "ki", minimum=0.0),
            kd=lanes.per_lane(config.kd, "kd", minimum=0.0),
            integral_max=lanes.per_lane(config.integral_max, "integral_max", minimum=0.0),
            const_effort=lanes.per_lane(config.const_effort, "const_effort"),
        )
