"""Pippin: a plugin host for the Newton physics engine."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .binding import Binding, Host
from .components.tracing import HookCall, HookTrace
from .config import (
    AssetConfig,
    BodyPairReductionConfig,
    CatalogConfig,
    CollisionConfig,
    ComponentConfig,
    FilePath,
    HydroelasticConfig,
    ObservationConfig,
    PolicyConfig,
    SceneConfig,
    ShapeConfig,
    SimulationConfig,
    SimulationOptions,
    TaskConfig,
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
from .state.double_buffer import DoubleBuffer
from .step.callbacks import Callback, Callbacks

if TYPE_CHECKING:
    from .assets.fidelity.difference import Difference
    from .assets.report import ImportReport
    from .export.replay import Replay, ReplayError, replay
    from .runs.reading import Run, open_run
    from .state.state_record import StateRecord

__all__ = [
    "AssetConfig",
    "Binding",
    "BodyPairReductionConfig",
    "BufferOverflowError",
    "Callback",
    "Callbacks",
    "CaptureWarning",
    "CatalogConfig",
    "CollisionConfig",
    "ComponentConfig",
    "ConfigError",
    "Difference",
    "DoubleBuffer",
    "FilePath",
    "HookCall",
    "HookTrace",
    "Host",
    "HydroelasticConfig",
    "ImportReport",
    "ObservationConfig",
    "PippinError",
    "PluginError",
    "PolicyConfig",
    "Replay",
    "ReplayError",
    "Run",
    "SceneConfig",
    "ShapeConfig",
    "Simulation",
    "SimulationConfig",
    "SimulationError",
    "SimulationOptions",
    "StateRecord",
    "TaskConfig",
    "did_you_mean",
    "find_file",
    "hookimpl",
    "hookspec",
    "load",
    "open_run",
    "replay",
    "structure",
]


_LATE = {
    "Difference": "pippin.assets.fidelity.difference",
    "ImportReport": "pippin.assets.report",
    "StateRecord": "pippin.state.state_record",
    "Replay": "pippin.export.replay",
    "ReplayError": "pippin.export.replay",
    "Run": "pippin.runs.reading",
    "open_run": "pippin.runs.reading",
    "replay": "pippin.export.replay",
}
"""Modules of public names that need NumPy, Warp or Newton, which the commands do without."""


def __getattr__(name: str) -> Any:
    """Import what needs NumPy, Warp or Newton at its first use."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)
