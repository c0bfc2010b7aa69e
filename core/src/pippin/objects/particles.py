"""Particles of an object: which ones a selection means, and how they are pinned."""

from __future__ import annotations

from collections.abc import Sequence

import newton
import numpy as np
import warp as wp
from pippin.errors import ConfigError

from .particle_configs import SelectionConfig
from .scene_object import Place

_AXIS = {"left": (0, np.min), "right": (0, np.max), "bottom": (1, np.min), "top": (1, np.max)}
"""Axis of an edge in the frame of the object, and its end of it."""

_RADIUS_MAX = 2.0
"""Largest radius of a particle in cells: particles of a larger one push each other away at the start."""


def pin_particles(
    builder: newton.ModelBuilder, first: int, selections: Sequence[SelectionConfig], place: Place, *, is_flagged: bool
) -> None:
    """Hold the selected particles of an object, which are those from `first` on.

    Args:
        builder: The content of one world.
        first: Number of the object's first particle.
        selections: The particles to hold.
        place: The copy of the object.
        is_flagged: Whether they are inactive too, as solvers of cloth want it; those of granular matter want a mass of
            zero alone.
    """
    local = _in_frame(builder, first, place)
    for index, selection in enumerate(selections):
        for chosen in _chosen(local, selection, f"{place.where}.pin[{index}]"):
            builder.particle_mass[first + chosen] = 0.0
            if is_flagged:
                builder.particle_flags[first + chosen] &= ~int(newton.ParticleFlags.ACTIVE)


def refuse_wide_particles(builder: newton.ModelBuilder, radius: float | None, cell: float, where: str) -> None:
    """Refuse particles that are much wider than a cell: they would explode.

    Args:
        builder: The content of one world, with the default radius.
        radius: The radius that the object states [m]; None for the default.
        cell: The smallest edge of a cell [m].
        where: Key path of the object.
    """
    used = builder.default_particle_radius if radius is None else radius
    if used > _RADIUS_MAX * cell:
        raise ConfigError(
            f"{where}.particle_radius: {used:g} m is more than {_RADIUS_MAX:g} cells of {cell:g} m, so that neighbours"
            " push each other away; set about half a cell"
        )


def _in_frame(builder: newton.ModelBuilder, first: int, place: Place) -> np.ndarray:
    """Return the positions of an object's particles in its frame [m], shape [particles, 3]."""
    world = np.array(builder.particle_q[first:], dtype=float).reshape(-1, 3)
    turn = np.array(wp.quat_to_matrix(wp.transform_get_rotation(place.pose)), dtype=float).reshape(3, 3)
    return (world - np.array(wp.transform_get_translation(place.pose))) @ turn


def _chosen(local: np.ndarray, selection: SelectionConfig, where: str) -> list[int]:
    if selection.edge is not None:
        axis, end = _AXIS[selection.edge]
        values = local[:, axis]
        found = np.abs(values - end(values)) < 1e-4 * max(1e-9, float(np.ptp(values)))
    elif selection.box is not None:
        low, high = np.array(selection.box)
        found = ((local >= low) & (local <= high)).all(axis=1)
    elif selection.nearest is not None:
        return [int(np.linalg.norm(local - np.array(selection.nearest), axis=1).argmin())]
    else:
        found = np.isin(np.arange(len(local)), selection.index)
        if max(selection.index) >= len(local):
            raise ConfigError(f"{where}.index: {max(selection.index)}, but the object has {len(local)} particles")
    if not found.any():
        bounds = f"{local.min(axis=0).round(4).tolist()} to {local.max(axis=0).round(4).tolist()}"
        raise ConfigError(f"{where}: no particle is there; the object reaches from {bounds} [m] in its frame")
    return np.flatnonzero(found).tolist()
