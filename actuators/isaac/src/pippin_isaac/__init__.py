"""Isaac Sim's actuator API on top of Pippin's actuators, for code that was written for Isaac Sim."""

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
from .prebuilt import ActuatorConfig

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
