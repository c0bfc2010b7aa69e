"""Height scanners, lidars and depth images by rays, as a Pippin sensor."""

from __future__ import annotations

import math
from typing import Any, Literal

import attrs
from attrs.validators import min_len
from pippin import sensing
from pippin.validators import positive

from .patterns import GridConfig, LidarConfig, PinholeConfig

__all__ = ["RayCasterConfig"]

PATTERNS = ("grid", "lidar", "pinhole")


def _one_pattern(instance: Any, attribute: Any, value: Any) -> None:
    given = [name for name in PATTERNS if getattr(instance, name) is not None]
    if len(given) != 1:
        choice = ", ".join(given) or "none"
        raise ValueError(f"exactly one of {', '.join(PATTERNS)} must be given: {choice}")


@attrs.frozen(kw_only=True)
class RayCasterConfig(sensing.SiteConfig):
    """Rays from a site of a body, in a pattern: `grid`, `lidar` or `pinhole`."""

    implementation = ".sensor:SensorRayCaster"

    grid: GridConfig | None = None
    """Parallel rays, for a height scan."""

    lidar: LidarConfig | None = None
    """Rays in channels that sweep."""

    pinhole: PinholeConfig | None = attrs.field(default=None, validator=_one_pattern)
    """Rays through the pixels of an image."""

    align: Literal["world", "body", "yaw"] = "body"
    """Rotation of the pattern: with the body, with its heading only (of the site's x axis), or not at all."""

    targets: tuple[str, ...] = attrs.field(default=(".*",), validator=min_len(1))
    """Full-match regular expressions of names of shapes that rays meet, or of whole labels if they contain a `/`."""

    moving: bool = False
    """Whether shapes of bodies are targets too, besides shapes that are fixed to the world."""

    max_distance: float = attrs.field(default=1.0e6, validator=positive)
    """Range of the rays [m]."""

    no_hit: Literal["infinity", "max-distance", "zero"] = "infinity"
    """Value of `distance` for a ray that meets nothing."""

    @property
    def pattern(self) -> GridConfig | LidarConfig | PinholeConfig:
        """The one pattern that is given."""
        return next(each for name in PATTERNS if (each := getattr(self, name)) is not None)

    @property
    def distance_of_no_hit(self) -> float:
        """Value of `distance` for a ray that meets nothing [m]."""
        return {"infinity": math.inf, "max-distance": self.max_distance, "zero": 0.0}[self.no_hit]
