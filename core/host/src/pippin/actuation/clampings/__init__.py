"""Limits on the effort of actuators: Newton's clampings."""

from .configs import DCMotorConfig, MaxEffortConfig, PositionBasedConfig

__all__ = ["DCMotorConfig", "MaxEffortConfig", "PositionBasedConfig"]
