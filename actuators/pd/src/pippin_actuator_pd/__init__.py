"""Proportional-derivative joint control, as a Pippin actuator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from pippin.actuation import ActuatorConfig, DriveActuator, Lanes, Parameter, parameter

if TYPE_CHECKING:
    from newton.actuators import DrivePD

__all__ = ["ActuatorPD", "PDConfig"]


@attrs.frozen(kw_only=True)
class PDConfig(ActuatorConfig):
    """A spring and a damper between joint and target: effort = c + f + kp (q* - q) + kd (q̇* - q̇).

    c is `const_effort`, f the feedforward, q and q̇ position and velocity; the stars mark targets. Angles do not wrap.
    """

    kp: Parameter = parameter(0.0, default=0.0)
    """Proportional gain [N/m or N·m/rad], for all joints or by pattern."""

    kd: Parameter = parameter(0.0, default=0.0)
    """Derivative gain [N·s/m or N·m·s/rad], for all joints or by pattern."""

    const_effort: Parameter = parameter(default=0.0)
    """Effort that is always added [N or N·m], for all joints or by pattern."""


class ActuatorPD(DriveActuator):
    """PD control of single-DOF joints, evaluated once per physics step on the state at its start."""

    Config = PDConfig
    config: PDConfig
    deterministic_on = frozenset({"cpu", "cuda"})

    def build_drive(self, lanes: Lanes) -> DrivePD:
        """Return Newton's PD drive."""
        from newton.actuators import DrivePD

        return DrivePD(
            kp=lanes.per_lane(self.config.kp, "kp", minimum=0.0),
            kd=lanes.per_lane(self.config.kd, "kd", minimum=0.0),
            const_effort=lanes.per_lane(self.config.const_effort, "const_effort"),
        )
