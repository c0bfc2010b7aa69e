"""Orchard: a plugin host for the Newton physics engine."""

from .errors import ConfigError, OrchardError, PluginError, SimulationError
from .hookspecs import hookimpl

__all__ = [
    "ConfigError",
    "OrchardError",
    "PluginError",
    "SimulationError",
    "hookimpl",
]
