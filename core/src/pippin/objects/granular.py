"""Granular matter: a block of loose particles."""

from __future__ import annotations

import math
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean
from pippin.state.matter import add_grains, color_of_next

from .particle_configs import GranularConfig
from .particles import pin_particles
from .scene_object import Place, SceneObject

_NAMESPACE = "mpm:"


class Granular(SceneObject):
    """A block of loose particles."""

    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add the particles, each with the mass of a cell between neighbours."""
        config: GranularConfig = self.config
        counts = [math.ceil(length / config.spacing - 1e-6) for length in config.size]
        cell = np.where(counts, np.array(config.size) / np.maximum(counts, 1), config.spacing)
        radius = float(cell.max()) / 2 if config.particle_radius is None else config.particle_radius
        sizes = zip("xyz", counts, cell.tolist(), strict=True)
        grid: dict[str, Any] = {
            "pos": wp.transform_get_translation(place.pose),
            "rot": wp.transform_get_rotation(place.pose),
        }
        for axis, count, edge in sizes:
            grid |= {f"dim_{axis}": count + 1, f"cell_{axis}": edge}
        first = builder.particle_count
        builder.add_particle_grid(
            vel=wp.vec3(*config.velocity),
            mass=config.density * float(cell.prod()),
            jitter=config.jitter * float(cell.max()),
            radius_mean=radius,
            custom_attributes=_material(builder, config, place),
            **grid,
        )
        add_grains(builder, place.label, first, color_of_next(builder, config.color))
        pin_particles(builder, first, config.pin, place, is_flagged=False)


def _material(builder: newton.ModelBuilder, config: GranularConfig, place: Place) -> dict[str, float]:
    """Return the attributes of the material, by the names in the builder."""
    known = [key.removeprefix(_NAMESPACE) for key in builder.custom_attributes if key.startswith(_NAMESPACE)]
    for name in config.mpm:
        if name not in known:
            cure = did_you_mean(name, known) or f"; it has {', '.join(known)}" if known else "; use solver implicit-mpm"
            raise ConfigError(f"{place.where}.mpm.{name}: the solver has no such attribute of particles{cure}")
    return {f"{_NAMESPACE}{name}": value for name, value in config.mpm.items()}
