"""Proportional-derivative joint control, as a Pippin actuator."""

from __future__ import annotations

from newton.actuators import DrivePD
from pippin.actuation import DriveActuator, Lanes

from . import PDConfig

__all__ = ["ActuatorPD"]


class ActuatorPD(DriveActuator):
    """PD control of single-DOF joints, evaluated once per physics step on the state at its start."""

    config: PDConfig
    deterministic_on = frozenset({"cpu", "cuda"})

    def build_drive(self, lanes: Lanes) -> DrivePD:
        """Return Newton's PD drive."""
        return DrivePD(
            kp=lanes.per_lane(self.config.kp, "kp", minimum=0.0),
            kd=lanes.per_lane(self.config.kd, "kd", minimum=0.0),
            const_effort=lanes.per_lane(self.config.const_effort, "const_effort"),
        )
