"""Configuration: typed, frozen classes, and the way from a file to them."""

from .loading import dump_toml, load, structure, unstructure
from .model import AssetConfig, CollisionConfig, ComponentConfig, SceneConfig, SimulationConfig, StepConfig

__all__ = [
    "AssetConfig",
    "CollisionConfig",
    "ComponentConfig",
    "SceneConfig",
    "SimulationConfig",
    "StepConfig",
    "dump_toml",
    "load",
    "structure",
    "unstructure",
]
