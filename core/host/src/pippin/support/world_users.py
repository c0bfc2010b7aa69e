"""Worlds that use a feature, found in a finalized model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import newton
import numpy as np

from .model_rows import host, is_moved


def _unequal_worlds(model: newton.Model) -> Sequence[str]:
    """Return the worlds whose content differs from the first world."""
    layouts = list(_layouts(model))
    return [f"world {index}" for index, layout in enumerate(layouts) if layout != layouts[0]]


def _layouts(model: newton.Model) -> Iterator[tuple[Any, ...]]:
    """Yield for each world its counts, and the trees, types and meshes of its joints and shapes."""
    starts = {what: host(getattr(model, f"{what}_world_start")) for what in ("body", "joint", "shape", "particle")}
    kinds = [(host(model.joint_type), "joint"), (host(model.joint_dof_dim), "joint"), (host(model.shape_type), "shape")]
    bodies = [(host(model.joint_parent), "joint"), (host(model.joint_child), "joint")]
    bodies.append((host(model.shape_body), "shape"))
    for world in range(model.world_count):
        first, end = starts["body"][world : world + 2]
        part = {what: slice(*starts[what][world : world + 2]) for what in ("joint", "shape")}
        trees = [np.maximum(array[part[what]] - first, -1).tobytes() for array, what in bodies]
        meshes = [hash(source) for source in model.shape_source[part["shape"]]]
        particle_count = np.diff(starts["particle"][world : world + 2])[0]
        yield end - first, particle_count, trees, [array[part[what]].tobytes() for array, what in kinds], meshes


def particles_touch(model: newton.Model) -> bool:
    """Return whether some world has particles that can touch something."""
    return bool(model.particle_count) and (model.particle_max_radius > 0.0 or bool(model.tri_count))


def _particle_worlds(model: newton.Model) -> Sequence[str]:
    """Return the worlds with particles that can touch something, if there are several."""
    if not particles_touch(model):
        return ()
    worlds = np.flatnonzero(np.diff(host(model.particle_world_start)[: model.world_count + 1]))
    return [f"world {index}" for index in worlds] if len(worlds) > 1 else ()


def _pulled_worlds(model: newton.Model) -> Sequence[str]:
    """Return the worlds with gravity, if something can move."""
    can_move = is_moved(model).any() or np.any(host(model.particle_mass) > 0.0)
    pulled = np.any(host(model.gravity) != 0.0, axis=-1)[: model.world_count]
    return [f"world {index}" for index in np.flatnonzero(pulled)] if can_move else ()


WORLD_USERS: Mapping[str, Callable[[newton.Model], Sequence[str]]] = {
    "gravity": _pulled_worlds,
    "heterogeneous_worlds": _unequal_worlds,
    "particle_worlds": _particle_worlds,
}
"""Functions that list the worlds that use a feature, by feature."""
