"""Particles of an object: how they are pinned, and how wide they may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import newton
import numpy as np
from pippin.config.geometry import PinConfig
from pippin.errors import ConfigError
from pippin.state.object_parts import chosen_part, in_frame

from .scene_object import ObjectPose

_RADIUS_MAX = 2.0
"""Largest radius of a particle in cells: particles of a larger one push each other away at the start."""


def pin_particles(
    builder: newton.ModelBuilder, first: int, selections: Sequence[PinConfig], place: ObjectPose, *, is_flagged: bool
) -> None:
    """Hold the selected particles of an object, which are those from `first` on.

    With `is_flagged`, they are inactive too, as solvers of cloth want it; those of granular matter want a mass of zero
    alone.
    """
    world = np.array(builder.particle_q[first:], dtype=float).reshape(-1, 3)
    for chosen in pinned(world, selections, place):
        builder.particle_mass[first + chosen] = 0.0
        if is_flagged:
            builder.particle_flags[first + chosen] &= ~int(newton.ParticleFlags.ACTIVE)


def pinned(world: np.ndarray, selections: Sequence[PinConfig], place: ObjectPose) -> Iterator[int]:
    """Yield the numbers of the particles or bodies of an object that are held, from their positions [m]."""
    local = in_frame(world, np.array(place.pose, dtype=float))
    for index, selection in enumerate(selections):
        yield from chosen_part(local, selection, f"{place.where}.pin[{index}]").tolist()


def refuse_wide_particles(builder: newton.ModelBuilder, radius: float | None, cell: float, where: str) -> None:
    """Refuse particles that are much wider than a cell: they would explode.

    `radius` is what the object states, None for the default, and `cell` the smallest edge of a cell [m].
    """
    used = builder.default_particle_radius if radius is None else radius
    if used > _RADIUS_MAX * cell:
        raise ConfigError(
            f"{where}.particle_radius: {used:g} m is more than {_RADIUS_MAX:g} cells of {cell:g} m, so that neighbours"
            " push each other away; set about half a cell"
        )
