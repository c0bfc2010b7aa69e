"""A DC motor under proportional-derivative control, as a Pippin actuator."""

from __future__ import annotations

import warnings

import numpy as np
from newton.actuators import ClampingBase, ClampingDCMotor, DrivePD
from pippin.actuation import DriveActuator, Lanes

from . import DCMotorDriveConfig

__all__ = ["ActuatorDCMotor", "DCMotorWarning"]

_SMALLEST = float(np.finfo(np.float32).tiny)
"""The smallest positive speed, in single precision."""


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
        motor = ClampingDCMotor(
            saturation_effort=lanes.per_lane(self.config.saturation_effort, "saturation_effort", minimum=0.0),
            velocity_limit=lanes.per_lane(self.config.velocity_limit, "velocity_limit", minimum=_SMALLEST),
            max_motor_effort=lanes.per_lane(self.config.max_motor_effort, "max_motor_effort", minimum=0.0),
        )
        _warn_of_limits(lanes)
        return [motor, *super().build_clamping(lanes)]


def _warn_of_limits(lanes: Lanes) -> None:
    """Warn of joints whose effort at rest only `saturation_effort` limits: the other limit is missing or larger."""
    (_, largest), (saturation, _) = lanes.bounds("max_motor_effort"), lanes.bounds("saturation_effort")
    is_above = largest > saturation
    names = dict.fromkeys(lanes.labels[index] for index in np.flatnonzero(is_above.any(axis=0)))
    if names:
        warnings.warn(
            f"max_motor_effort: missing or above saturation_effort for {', '.join(names)}, so that it limits the motor"
            " only while it brakes; give the effort that the motor may have, at most saturation_effort",
            DCMotorWarning,
            stacklevel=2,
        )
