"""Matter as viewers draw it: surfaces of triangles, and loose particles, by object; cables are drawn as shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.state.matter import OF_PARTICLES, SAND, Matter, particle_colors


@attrs.frozen(kw_only=True, eq=False)
class SeenMatter:
    """One object of one world; or the triangles or the particles of a world that belong to no object."""

    label: str
    world: int
    particles: np.ndarray
    """Indices of the particles to draw, ascending, shape [particles]."""

    faces: np.ndarray
    """Triangles, as rows of `particles`, shape [triangles, 3]; without any, the particles are drawn as spheres."""

    color: tuple[float, float, float]
    """Red, green and blue from 0 to 1, as displays take them."""

    radius: float
    """Mean radius of the particles [m]."""


def seen_matter(model: newton.Model, worlds: Sequence[int] | np.ndarray) -> list[SeenMatter]:
    """Return what is to be drawn of matter in some worlds, and in none, in the order of the model."""
    if not model.particle_count:
        return []
    owner = np.full(model.particle_count, -1)
    matter = Matter.of(model, *OF_PARTICLES)
    for row, (start, count) in enumerate(zip(matter.starts, matter.counts, strict=True)):
        owner[start : start + count] = row
    triangles = _host(model.tri_indices, (0, 3)).reshape(-1, 3)
    is_meshed = np.zeros(model.particle_count, dtype=bool)
    is_meshed[triangles.ravel()] = is_meshed[_host(model.tet_indices, (0, 4)).ravel()] = True
    of_worlds = on_host(model.particle_world)
    return [
        seen
        for world in (-1, *np.asarray(worlds).tolist())
        for seen in _of_world(model, matter, owner, triangles, ~is_meshed, of_worlds == world, world)
    ]


def _of_world(
    model: newton.Model,
    matter: Matter,
    owner: np.ndarray,
    triangles: np.ndarray,
    is_loose: np.ndarray,
    is_here: np.ndarray,
    world: int,
) -> Iterator[SeenMatter]:
    """Yield the objects of a world. The masks and the owners, which are rows of `matter`, are those of particles."""
    colors = {True: _host(model.tri_color, (0, 3)), False: particle_colors(model)}
    radii, owners = on_host(model.particle_radius), owner[triangles[:, 0]]
    for row in np.unique(owner[is_here]).tolist():
        own = np.flatnonzero(is_here[triangles[:, 0]] & (owners == row)) if len(triangles) else np.zeros(0, dtype=int)
        loose = np.flatnonzero(is_here & is_loose & (owner == row))
        for faces, particles in ((triangles[own], np.unique(triangles[own])), (triangles[:0], loose)):
            if len(particles):
                color = colors[bool(len(faces))][(own if len(faces) else particles)[:1]].ravel().tolist()
                yield SeenMatter(
                    label=matter.labels[row] if row >= 0 else "surface" if len(faces) else "particles",
                    world=world,
                    particles=particles,
                    faces=np.searchsorted(particles, faces),
                    color=tuple(color) or SAND,
                    radius=float(radii[particles].mean()),
                )


def _host(array: object, empty: tuple[int, ...]) -> np.ndarray:
    """Return an array of the model on the host; if there is none, an empty one of a shape."""
    return np.zeros(empty, dtype=np.int32) if array is None else on_host(array)  # pyright: ignore[reportArgumentType]
