"""Pippin: a plugin host for the Newton physics engine."""

from .callbacks import Callback, Callbacks
from .capacities import Capacity
from .config import (
    AssetConfig,
    CollisionConfig,
    ComponentConfig,
    SceneConfig,
    SimulationConfig,
    StepConfig,
    load,
    structure,
)
from .contacts import ContactSource
from .errors import ConfigError, PippinError, PluginError, SimulationError
from .features import FeatureWarning
from .hookspecs import hookimpl
from .program import CaptureWarning
from .simulation import Simulation
from .tracing import HookTrace

__all__ = [
    "AssetConfig",
    "Callback",
    "Callbacks",
    "Capacity",
    "CaptureWarning",
    "CollisionConfig",
    "ComponentConfig",
    "ConfigError",
    "ContactSource",
    "FeatureWarning",
    "HookTrace",
    "PippinError",
    "PluginError",
    "SceneConfig",
    "Simulation",
    "SimulationConfig",
    "SimulationError",
    "StepConfig",
    "hookimpl",
    "load",
    "structure",
]
