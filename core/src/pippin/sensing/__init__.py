"""Shared parts of sensor plugins: a base class with outputs, periods and stages, and sites on bodies."""

from .config import SensorConfig, SiteConfig, body_or_site
from .lanes import OutputLanes
from .output import Output
from .sensor import Sensor
from .sites import Place, add_site, add_sites, cameras_of, per_world
from .stages import Stage, StageConfig

__all__ = [
    "Output",
    "OutputLanes",
    "Place",
    "Sensor",
    "SensorConfig",
    "SiteConfig",
    "Stage",
    "StageConfig",
    "add_site",
    "add_sites",
    "body_or_site",
    "cameras_of",
    "per_world",
]
