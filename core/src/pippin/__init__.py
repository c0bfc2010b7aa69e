"""Pippin: a plugin host for the Newton physics engine."""

from .binding import Binding, Host
from .components.tracing import HookTrace
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
from .errors import CaptureWarning, ConfigError, FeatureWarning, PippinError, PluginError, SimulationError
from .hookspecs import hookimpl
from .simulation import Simulation
from .step.callbacks import Callback, Callbacks

__all__ = [
    "AssetConfig",
    "Binding",
    "Callback",
    "Callbacks",
    "CaptureWarning",
    "CollisionConfig",
    "ComponentConfig",
    "ConfigError",
    "FeatureWarning",
    "HookTrace",
    "Host",
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
