"""Pippin: a plugin host for the Newton physics engine."""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from .recording.reading import Run, open_run

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
    "Run",
    "SceneConfig",
    "Simulation",
    "SimulationConfig",
    "SimulationError",
    "StepConfig",
    "did_you_mean",
    "find_file",
    "hookimpl",
    "load",
    "open_run",
    "structure",
]


def __getattr__(name: str) -> Any:
    """Import what reads recordings at its first use: it needs NumPy, which the commands do without."""
    if name not in ("Run", "open_run"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .recording import reading

    return getattr(reading, name)
