"""A servo with back-EMF and a winding that heats up, and a stop at full speed."""

import attrs
from pippin.actuation import Clamping, DriveActuator

from . import HotMotorConfig
from .drive import ClampingSpeedStop, DriveHotMotor


class HotMotor(DriveActuator):
    """The servo. `drive_state.rise` is how much warmer than its surroundings each winding is [K]."""

    config: HotMotorConfig

    def build_drive(self, lanes):
        """Return the drive, whose parameters are the fields above."""
        own = [field.name for field in attrs.fields(HotMotorConfig) if not field.inherited]
        return DriveHotMotor(**{name: lanes.per_lane(getattr(self.config, name), name, minimum=0.0) for name in own})


class SpeedStop(Clamping):
    """The stop at full speed."""

    def build(self, lanes):
        """Return the clamping."""
        return ClampingSpeedStop(lanes.per_lane(self.config.max_speed, "max_speed", minimum=0.0))
