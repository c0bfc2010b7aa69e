"""Configuration: typed, frozen classes, and the way from a file to them."""

from .catalog import CatalogConfig
from .collision import BodyPairReductionConfig, CollisionConfig
from .hydroelastic import HydroelasticConfig
from .loading import dump_toml, load, structure, unstructure
from .model import AssetConfig, ComponentConfig, SceneConfig, SimulationConfig, StepConfig
from .paths import FilePath
from .shapes import ShapeConfig

__all__ = [
    "AssetConfig",
    "BodyPairReductionConfig",
    "CatalogConfig",
    "CollisionConfig",
    "ComponentConfig",
    "FilePath",
    "HydroelasticConfig",
    "SceneConfig",
    "ShapeConfig",
    "SimulationConfig",
    "StepConfig",
    "dump_toml",
    "load",
    "structure",
    "unstructure",
]
