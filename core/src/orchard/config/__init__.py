"""Configuration: typed, frozen classes, and the way from a file to them."""

from .collision import CollisionConfig
from .loading import dump_toml, load, structure, unstructure
from .model import AssetConfig, ComponentConfig, SceneConfig, SimulationConfig, StepConfig
from .paths import FilePath
from .shapes import ShapeConfig

__all__ = [
    "AssetConfig",
    "CollisionConfig",
    "ComponentConfig",
    "FilePath",
    "SceneConfig",
    "ShapeConfig",
    "SimulationConfig",
    "StepConfig",
    "dump_toml",
    "load",
    "structure",
    "unstructure",
]
