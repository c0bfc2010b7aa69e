"""The names of Isaac Sim's actuator extension over Pippin's actuators, for code that comes from there."""

from .articulation import ArticulationActuators
from .authoring import add_actuator
from .configs import (
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from .errors import ArgumentError
from .given import ActuatorConfig

__all__ = [
    "ActuatorConfig",
    "ArgumentError",
    "ArticulationActuators",
    "DCMotorClampingConfig",
    "DelayConfig",
    "MaxEffortClampingConfig",
    "NeuralControlConfig",
    "PDControlConfig",
    "PIDControlConfig",
    "PositionBasedClampingConfig",
    "add_actuator",
]
