"""Shared parts of sensor plugins: a base class with outputs, periods and stages, and sites on bodies."""

from typing import TYPE_CHECKING

from pippin.late import late

from .config import FrameConfig, SensorConfig, SiteConfig, StageConfig, body_or_site

if TYPE_CHECKING:
    from pippin.state.spreads import Spread

    from .readings import Output
    from .sensor import Sensor
    from .sites import SensorFrame, add_site, add_sites, cameras_of, per_world
    from .stage import OutputLanes, Stage

__all__ = [
    "FrameConfig",
    "Output",
    "OutputLanes",
    "Sensor",
    "SensorConfig",
    "SensorFrame",
    "SiteConfig",
    "Spread",
    "Stage",
    "StageConfig",
    "add_site",
    "add_sites",
    "body_or_site",
    "cameras_of",
    "per_world",
]

__getattr__ = late(__name__)
