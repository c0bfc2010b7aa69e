"""Configuration: typed, frozen classes, and functions that load and dump them."""

from .attachments import AttachmentConfig
from .bodies import BodyMassConfig
from .catalog import CatalogConfig
from .collision import BodyPairReductionConfig, CollisionConfig
from .component import ComponentConfig
from .extras import refuse_missing_extras
from .hydroelastic import HydroelasticConfig
from .loading import dump_toml, load, structure, unstructure
from .model import AssetConfig, FilterConfig, SceneConfig, SimulationConfig, SimulationOptions
from .paths import FilePath
from .shapes import ShapeConfig
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
    "HydroelasticConfig",
    "SceneConfig",
    "SceneSiteConfig",
    "ShapeConfig",
    "SimulationConfig",
    "SimulationOptions",
    "TendonConfig",
    "TendonGuideConfig",
    "TerrainConfig",
    "dump_toml",
    "load",
    "refuse_missing_extras",
    "structure",
    "unstructure",
]
