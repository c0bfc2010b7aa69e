"""Granular matter: loose particles in a block, or at listed points."""

from __future__ import annotations

import math
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, did_you_mean
from pippin.matter import add_grains, color_of_next

from .configs import GranularConfig
from .object_config import Vector3
from .particles import pin_particles
from .scene_object import Place, SceneObject
from .tables import listed_rows

_NAMESPACE = "mpm:"


class Granular(SceneObject):
    """Loose particles in a block, or at listed points."""

    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add the particles, each with the mass of a cell between neighbours."""
        config: GranularConfig = self.config
        first = builder.particle_count
        material = _material(builder, config, place)
        if config.size is None:
            _add_points(builder, config, place, material)
        else:
            _add_block(builder, config, config.size, place, material)
        add_grains(builder, place.label, first, color_of_next(builder, config.color))
        pin_particles(builder, first, config.pin, place, is_flagged=False)


def _add_block(
    builder: newton.ModelBuilder, config: GranularConfig, size: Vector3, place: Place, material: dict[str, float]
) -> None:
    counts = [math.ceil(length / config.spacing - 1e-6) for length in size]
    cell = np.where(counts, np.array(size) / np.maximum(counts, 1), config.spacing)
    grid: dict[str, Any] = {
        "pos": wp.transform_get_translation(place.pose),
        "rot": wp.transform_get_rotation(place.pose),
    }
    for axis, count, edge in zip("xyz", counts, cell.tolist(), strict=True):
        grid |= {f"dim_{axis}": count + 1, f"cell_{axis}": edge}
    builder.add_particle_grid(
        vel=wp.vec3(*config.velocity),
        mass=config.density * float(cell.prod()),
        jitter=config.jitter * float(cell.max()),
        radius_mean=config.particle_radius or float(cell.max()) / 2,
        custom_attributes=material,
        **grid,
    )


def _add_points(builder: newton.ModelBuilder, config: GranularConfig, place: Place, material: dict[str, float]) -> None:
    points = place.in_world(listed_rows(config.points, f"{place.where}.points"))
    count = len(points)
    # As Newton does it in a block: another draw for each object.
    draws = np.random.default_rng(42 + builder.particle_count).random(points.shape) - 0.5
    builder.add_particles(
        pos=[wp.vec3(*each) for each in points + draws * config.jitter * config.spacing],
        vel=[wp.vec3(*config.velocity)] * count,
        mass=[config.density * config.spacing**3] * count,
        radius=[config.particle_radius or config.spacing / 2] * count,
        custom_attributes={name: [value] * count for name, value in material.items()},
    )


def _material(builder: newton.ModelBuilder, config: GranularConfig, place: Place) -> dict[str, float]:
    """Return the attributes of the material, by the names in the builder."""
    known = [key.removeprefix(_NAMESPACE) for key in builder.custom_attributes if key.startswith(_NAMESPACE)]
    for name in config.mpm:
        if name not in known:
            cure = did_you_mean(name, known) or f"; it has {', '.join(known)}" if known else "; use solver implicit-mpm"
            raise ConfigError(f"{place.where}.mpm.{name}: the solver has no such attribute of particles{cure}")
    return {f"{_NAMESPACE}{name}": value for name, value in config.mpm.items()}
