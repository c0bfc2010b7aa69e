"""The object `rod`: a cable or a rod of short segments."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.errors import ConfigError
from pippin.state.matter import color_of_next

from .rod_config import RodConfig
from .scene_object import Place, SceneObject
from .shapes import properties_of
from .tables import read_table

_STATED = [f"{kind}_{what}" for kind in ("stretch", "shear", "bend", "twist") for what in ("stiffness", "damping")]


class Rod(SceneObject):
    """A cable or a rod of short segments."""

    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add a body, a capsule and a joint for each segment; the first segment is free."""
        config: RodConfig = self.config
        points: list[Any] = [wp.vec3(*point) for point in _points(config, place.where)]
        if len(points) < 2:
            raise ConfigError(f"{place.where}.points: a rod needs at least 2 points, got {len(points)}")
        points = [wp.transform_point(place.pose, point) for point in points]
        rod = newton.Rod(points, radius=config.radius, closed=config.closed)
        rod.compute_frames()
        stated = {name: value for name in _STATED if (value := getattr(config, name)) is not None}
        shape = properties_of(builder, place, config.material, f"{place.where}.material")
        color = color_of_next(builder, config.color)
        builder.add_rod(rod=rod, cfg=shape, label=place.label, color=color, **stated)


def _points(config: RodConfig, where: str) -> np.ndarray:
    """Return the ends of the segments in the frame of the object [m], shape [points, 3]."""
    if isinstance(config.points, str):
        return read_table(config.points, f"{where}.points", (3,))
    if config.points:
        return np.array(config.points)
    assert config.end is not None, "a rod has points, or an end and segments"
    assert config.segments is not None, "as above"
    return np.linspace((0.0, 0.0, 0.0), config.end, config.segments + 1)
