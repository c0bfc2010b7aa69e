"""A DC motor under proportional-derivative control, as a Pippin actuator."""

from __future__ import annotations

import warnings

import numpy as np
from newton.actuators import ClampingBase, DrivePD
from pippin.actuation import DriveActuator, Lanes, build_dc_motor
from pippin.arrays import on_host

from . import DCMotorDriveConfig

__all__ = ["ActuatorDCMotor", "DCMotorWarning"]


class DCMotorWarning(UserWarning):
    """The limit `max_motor_effort` has no effect on a motor at rest."""


class ActuatorDCMotor(DriveActuator):
    """PD control whose effort is limited by a motor's four-quadrant curve before any other clamping."""

    config: DCMotorDriveConfig

    def build_drive(self, lanes: Lanes) -> DrivePD:
        """Return Newton's PD drive."""
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
