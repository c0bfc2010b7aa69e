"""Pippin: a plugin host for the Newton physics engine."""

from .step.callbacks import Callback, Callbacks
from .solving.capacities import Capacity
from .config import AssetConfig, CollisionConfig, ComponentConfig, SceneConfig, SimulationConfig, StepConfig, load, structure
from .solving.contact_source import ContactSource
from .errors import ConfigError, PippinError, PluginError, SimulationError
from .errors import FeatureWarning
from .hookspecs import hookimpl
from .errors import CaptureWarning
from .simulation import Simulation
from .components.tracing import HookTrace

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
