"""Pippin: a plugin host for the Newton physics engine."""

from importlib import import_module
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
from .hookspecs import hookimpl, hookspec
from .simulation import Simulation
from .spelling import did_you_mean
from .step.callbacks import Callback, Callbacks

if TYPE_CHECKING:
    from .recording.reading import Run, open_run
    from .replaying import replay

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
    "hookspec",
    "load",
    "open_run",
    "replay",
    "structure",
]


_LATE = {"Run": "pippin.recording.reading", "open_run": "pippin.recording.reading", "replay": "pippin.replaying"}
"""Modules of public names that need NumPy or Warp, which the commands do without."""


def __getattr__(name: str) -> Any:
    """Import what needs NumPy or Warp at its first use."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)
