"""Isaac Sim's actuator API on top of Pippin's actuators, for code that was written for Isaac Sim."""

from .articulation import ArticulationActuators
from .authoring import add_actuator
from .configs import (
    DCMotorClampingConfig,
    DelaySchemaConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from .errors import ArgumentError
from .prebuilt import PrebuiltActuatorConfig

__all__ = [
    "ArgumentError",
    "ArticulationActuators",
    "DCMotorClampingConfig",
    "DelaySchemaConfig",
    "MaxEffortClampingConfig",
    "NeuralControlConfig",
    "PDControlConfig",
    "PIDControlConfig",
    "PositionBasedClampingConfig",
    "PrebuiltActuatorConfig",
    "add_actuator",
]
