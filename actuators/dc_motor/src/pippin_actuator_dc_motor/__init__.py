"""A DC motor under proportional-derivative control, as a Pippin actuator."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import attrs
import numpy as np
from pippin.actuation import ActuatorConfig, DCMotorConfig, DriveActuator, Lanes, Parameter, build_dc_motor, parameter
from pippin.arrays import on_host

if TYPE_CHECKING:
    from newton.actuators import ClampingBase, DrivePD

__all__ = ["ActuatorDCMotor", "DCMotorDriveConfig", "DCMotorWarning"]


class DCMotorWarning(UserWarning):
    """The limit `max_motor_effort` has no effect on a motor at rest."""


@attrs.frozen(kw_only=True)
class DCMotorDriveConfig(ActuatorConfig, DCMotorConfig):
    """PD control, c + f + kp (q* - q) + kd (q̇* - q̇), within the limits of a DC motor.

    c is `const_effort`, f the feedforward, q and q̇ position and velocity; the stars mark targets. With v = q̇ limited to
    ±`velocity_limit` (1 + `max_motor_effort` / `saturation_effort`), the effort lies between
    max(`saturation_effort` (-1 - v / `velocity_limit`), -`max_motor_effort`) and
    min(`saturation_effort` (1 - v / `velocity_limit`), `max_motor_effort`). Other clampings follow.
    """

    kp: Parameter = parameter(0.0, default=0.0)
    """Proportional gain [N/m or N·m/rad], for all joints or by pattern."""

    kd: Parameter = parameter(0.0, default=0.0)
    """Derivative gain [N·s/m or N·m·s/rad], for all joints or by pattern."""

    const_effort: Parameter = parameter(default=0.0)
    """Effort that is always added [N or N·m], for all joints or by pattern."""


class ActuatorDCMotor(DriveActuator):
    """PD control whose effort is limited by a motor's four-quadrant curve before any other clamping."""

    Config = DCMotorDriveConfig
    config: DCMotorDriveConfig

    def build_drive(self, lanes: Lanes) -> DrivePD:
        """Return Newton's PD drive."""
        from newton.actuators import DrivePD

        return DrivePD(
            kp=lanes.per_lane(self.config.kp, "kp", minimum=0.0),
            kd=lanes.per_lane(self.config.kd, "kd", minimum=0.0),
            const_effort=lanes.per_lane(self.config.const_effort, "const_effort"),
        )

    def build_clamping(self, lanes: Lanes) -> list[ClampingBase]:
        """Return the motor's curve, then the clampings of the file."""
        motor = build_dc_motor(self.config, lanes)
        _warn_of_limits(lanes)
        return [motor, *super().build_clamping(lanes)]


def _warn_of_limits(lanes: Lanes) -> None:
    """Warn of joints whose effort at rest only `saturation_effort` limits: the other limit is missing or larger."""
    largest, saturation = lanes.parameters["max_motor_effort"], lanes.parameters["saturation_effort"]
    is_above = np.reshape(on_host(largest.high) > on_host(saturation.low), lanes.dofs.shape)
    names = dict.fromkeys(lanes.labels[index] for index in np.flatnonzero(is_above.any(axis=0)))
    if names:
        warnings.warn(
            f"max_motor_effort: missing or above saturation_effort for {', '.join(names)}, so that it limits the motor"
            " only while it brakes; give the effort that the motor may have, at most saturation_effort",
            DCMotorWarning,
            stacklevel=2,
        )
