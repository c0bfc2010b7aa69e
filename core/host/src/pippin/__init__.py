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
    FitConfig,
    FitParameterConfig,
    FitSignalConfig,
    HydroelasticConfig,
    LossConfig,
    ObservationConfig,
    OptimiseConfig,
    PolicyConfig,
    PriorConfig,
    SceneConfig,
    SceneSiteConfig,
    ShapeConfig,
    SimulationConfig,
    SimulationOptions,
    SymmetryConfig,
    TaskConfig,
    TendonConfig,
    TendonGuideConfig,
    TerrainConfig,
    VariableConfig,
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
    from pippin_benchmark.compare import compare
    from .analysis.comparison import Comparison, SolverRun
    from .analysis.inspection import inspect
    from .analysis.inspection.rows import AssetContents
    from pippin_task.motion_conversion import convert_motion
    from .analysis.verify import RunDifference, verify
    from .export.replay import Replay, ReplayError
    from pippin_fit.fit import fit
    from pippin_fit.result import FitResult
    from pippin_fit.verdicts import FitVerdict
    from pippin_optimise.optimise import optimise
    from pippin_optimise.result import OptimisationResult
    from .runs.reading import Run
    from .runs.result import RunResult
    from .runs.run import run
    from pippin_sweep.run_sweep import SweepResult, sweep

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
    "CollisionConfig",
    "Comparison",
    "ComponentConfig",
    "ConfigError",
    "DoubleBuffer",
    "FilePath",
    "FilterConfig",
    "FitConfig",
    "FitParameterConfig",
    "FitResult",
    "FitSignalConfig",
    "FitVerdict",
    "HookCall",
    "HookTrace",
    "Host",
    "HydroelasticConfig",
    "LossConfig",
    "ObservationConfig",
    "OptimisationResult",
    "OptimiseConfig",
    "PippinError",
    "PluginError",
    "PolicyConfig",
    "PriorConfig",
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
    "SolverRun",
    "SweepResult",
    "SymmetryConfig",
    "TaskConfig",
    "TendonConfig",
    "TendonGuideConfig",
    "TerrainConfig",
    "VariableConfig",
    "compare",
    "convert_motion",
    "did_you_mean",
    "find_file",
    "fit",
    "hookimpl",
    "hookspec",
    "inspect",
    "load",
    "optimise",
    "run",
    "structure",
    "sweep",
    "verify",
]

_LATE = {
    "AssetContents": "pippin.analysis.inspection.rows",
    "Comparison": "pippin.analysis.comparison",
    "SweepResult": "pippin_sweep.run_sweep",
    "FitResult": "pippin_fit.result",
    "FitVerdict": "pippin_fit.verdicts",
    "OptimisationResult": "pippin_optimise.result",
    "Replay": "pippin.export.replay",
    "ReplayError": "pippin.export.replay",
    "Run": "pippin.runs.reading",
    "RunDifference": "pippin.analysis.verify",
    "RunResult": "pippin.runs.result",
    "SolverRun": "pippin.analysis.comparison",
    "compare": "pippin_benchmark.compare",
    "convert_motion": "pippin_task.motion_conversion",
    "fit": "pippin_fit.fit",
    "inspect": "pippin.analysis.inspection",
    "optimise": "pippin_optimise.optimise",
    "run": "pippin.runs.run",
    "sweep": "pippin_sweep.run_sweep",
    "verify": "pippin.analysis.verify",
}
"""Modules of public names that need NumPy, Warp or Newton, which the commands do without."""

__getattr__ = late(__name__, _LATE, packages=("gym",))
