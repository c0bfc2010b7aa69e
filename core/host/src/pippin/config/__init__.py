"""Configuration: typed, frozen classes, and functions that load and dump them."""

from .attachments import AttachmentConfig
from .bodies import BodyMassConfig
from .catalog import CatalogConfig
from .collision import BodyPairReductionConfig, CollisionConfig
from .component import ComponentConfig
from .extras import refuse_missing_extras
from pippin_fit.config import FitConfig, FitParameterConfig, FitSignalConfig, PriorConfig
from .hydroelastic import HydroelasticConfig
from .loading import dump_toml, load, structure, unstructure
from .model import AssetConfig, FilterConfig, SceneConfig, SimulationConfig, SimulationOptions
from pippin_optimise.config import LossConfig, OptimiseConfig, VariableConfig
from .paths import FilePath
from pippin_task.policy.config import PolicyConfig
from .shapes import ShapeConfig
from pippin_task.config import ObservationConfig, SymmetryConfig, TaskConfig
from .tendons import SceneSiteConfig, TendonConfig, TendonGuideConfig
from .terrain import TerrainConfig

__all__ = [
    "AssetConfig",
    "AttachmentConfig",
    "BodyMassConfig",
    "BodyPairReductionConfig",
    "CatalogConfig",
    "CollisionConfig",
    "ComponentConfig",
    "FilePath",
    "FilterConfig",
    "FitConfig",
    "FitParameterConfig",
    "FitSignalConfig",
    "HydroelasticConfig",
    "LossConfig",
    "ObservationConfig",
    "OptimiseConfig",
    "PolicyConfig",
    "PriorConfig",
    "SceneConfig",
    "SceneSiteConfig",
    "ShapeConfig",
    "SimulationConfig",
    "SimulationOptions",
    "SymmetryConfig",
    "TaskConfig",
    "TendonConfig",
    "TendonGuideConfig",
    "TerrainConfig",
    "VariableConfig",
    "dump_toml",
    "load",
    "refuse_missing_extras",
    "structure",
    "unstructure",
]
