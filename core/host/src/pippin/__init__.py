"""Pippin: a plugin host for the Newton physics engine."""

from typing import TYPE_CHECKING

from .binding import Binding, Host, Services
from .components.tracing import HookCall, HookTrace
from .config import (
    AssetConfig,
    AttachmentConfig,
    BodyMassConfig,
    BodyPairReductionConfig,
    CatalogConfig,
    CollisionConfig,
    ComponentConfig,
    FilePath,
    FilterConfig,
    HydroelasticConfig,
    SceneConfig,
    SceneSiteConfig,
    ShapeConfig,
    SimulationConfig,
    SimulationOptions,
    TendonConfig,
    TendonGuideConfig,
    TerrainConfig,
    load,
    structure,
)
from .config.files import find_file
from .errors import BufferOverflowError, CaptureWarning, ConfigError, PippinError, PluginError, SimulationError
from .hookspecs import hookimpl, hookspec
from .late import late
from .simulation import Simulation
from .spelling import did_you_mean
from .state.double_buffer import DoubleBuffer
from .step.callbacks import Callback, Callbacks

if TYPE_CHECKING:
    from .export.replay import Replay, ReplayError
    from .inspection import inspect
    from .inspection.rows import AssetContents
    from .runs.reading import Run
    from .runs.result import RunResult
    from .runs.run import run
    from .state.checkpoint import Checkpoint
    from .verification.verify import RunDifference, verify

__all__ = [
    "AssetConfig",
    "AssetContents",
    "AttachmentConfig",
    "Binding",
    "BodyMassConfig",
    "BodyPairReductionConfig",
    "BufferOverflowError",
    "Callback",
    "Callbacks",
    "CaptureWarning",
    "CatalogConfig",
    "Checkpoint",
    "CollisionConfig",
    "ComponentConfig",
    "ConfigError",
    "DoubleBuffer",
    "FilePath",
    "FilterConfig",
    "HookCall",
    "HookTrace",
    "Host",
    "HydroelasticConfig",
    "PippinError",
    "PluginError",
    "Replay",
    "ReplayError",
    "Run",
    "RunDifference",
    "RunResult",
    "SceneConfig",
    "SceneSiteConfig",
    "Services",
    "ShapeConfig",
    "Simulation",
    "SimulationConfig",
    "SimulationError",
    "SimulationOptions",
    "TendonConfig",
    "TendonGuideConfig",
    "TerrainConfig",
    "did_you_mean",
    "find_file",
    "hookimpl",
    "hookspec",
    "inspect",
    "load",
    "run",
    "structure",
    "verify",
]

__getattr__ = late(__name__)
