"""Pippin: a plugin host for the Newton physics engine."""

from .binding import Binding, Host
from .components.tracing import HookTrace
from .config import (
    AssetConfig,
    CollisionConfig,
    ComponentConfig,
    FilePath,
    SceneConfig,
    SimulationConfig,
    StepConfig,
    load,
    structure,
)
from .config.files import find_file
from .errors import (
    BufferOverflowError,
    CaptureWarning,
    ConfigError,
    PippinError,
    PluginError,
    SimulationError,
)
from .hookspecs import hookimpl
from .simulation import Simulation
from .spelling import did_you_mean
from .step.callbacks import Callback, Callbacks

__all__ = [
    "AssetConfig",
    "Binding",
    "BufferOverflowError",
    "Callback",
    "Callbacks",
    "CaptureWarning",
    "CollisionConfig",
    "ComponentConfig",
    "ConfigError",
    "FilePath",
    "HookTrace",
    "Host",
    "PippinError",
    "PluginError",
    "SceneConfig",
    "Simulation",
    "SimulationConfig",
    "SimulationError",
    "StepConfig",
    "did_you_mean",
    "find_file",
    "hookimpl",
    "load",
    "structure",
]
