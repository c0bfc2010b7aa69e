"""Proportional-integral-derivative joint control, as a Pippin actuator."""

from __future__ import annotations

from newton.actuators import DrivePID
from pippin.actuation import DriveActuator, Lanes

from . import PIDConfig

__all__ = ["ActuatorPID"]


class ActuatorPID(DriveActuator):
    """PID control of single-DOF joints, once per physics step; a reset sets the integrals of its worlds to zero."""

    config: PIDConfig

    def build_drive(self, lanes: Lanes) -> DrivePID:
        """Return Newton's PID drive."""
        config = self.config
        return DrivePID(
            kp=lanes.per_lane(config.kp, "kp", minimum=0.0),
            ki=lanes.per_lane(config.ki, "ki", minimum=0.0),
            kd=lanes.per_lane(config.kd, "kd", minimum=0.0),
            integral_max=lanes.per_lane(config.integral_max, "integral_max", minimum=0.0),
            const_effort=lanes.per_lane(config.const_effort, "const_effort"),
        )
