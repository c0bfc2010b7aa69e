"""Matter as viewers draw it, by object: surfaces of triangles, loose particles, and cables of capsules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import newton
import numpy as np
from pippin.arrays import on_host

from .rows import OF_BODIES, OF_PARTICLES, SAND, Matter, particle_colors


@attrs.frozen(kw_only=True, eq=False)
class RenderMatter:
    """One object of one world; or the triangles or the particles of a world that belong to no object.

    A cable has bodies, and its segments are shapes of the model. Other matter has particles.
    """

    label: str
    """Label of the object; `surface` or `particles`, if there is none."""

    world: int
    """Index of the world; -1 for none."""

    particles: np.ndarray
    """Indices of the particles to draw, ascending, shape [particles]."""

    faces: np.ndarray
    """Triangles, as rows of `particles`, shape [triangles, 3]; without any, the particles are drawn as spheres."""

    color: tuple[float, float, float]
    """Red, green and blue from 0 to 1, as displays take them."""

    radius: float
    """Mean radius of the particles, or radius of the cable [m]."""

    bodies: np.ndarray = attrs.field(factory=lambda: np.zeros(0, dtype=int))
    """Indices of the bodies of a cable in their order, shape [segments]."""

    def of(self, positions: np.ndarray) -> np.ndarray:
        """Return the rows of the particles in an array of all particles; a view, if they follow each other.

        Args:
            positions: An array of shape [model particles, ...].
        """
        first, last = self.particles[0], self.particles[-1]
        is_block = last - first + 1 == len(self.particles)
        return positions[first : last + 1] if is_block else positions[self.particles]


def render_matter(model: newton.Model, worlds: Sequence[int] | np.ndarray) -> list[RenderMatter]:
    """Return the matter of some worlds and of none, in the order of the model, with the cables of a world at its end.

    Args:
        model: The model; read from the device.
        worlds: Indices of worlds.
    """
    chosen = (-1, *np.asarray(worlds).tolist())
    cables = list(_cables(model))
    if not model.particle_count:
        return [cable for world in chosen for cable in cables if cable.world == world]
    owner = np.full(model.particle_count, -1)
    matter = Matter.of(model, *OF_PARTICLES)
    for row, (start, count) in enumerate(zip(matter.starts, matter.counts, strict=True)):
        owner[start : start + count] = row
    triangles = _host(model.tri_indices, (0, 3)).reshape(-1, 3)
    is_meshed = np.zeros(model.particle_count, dtype=bool)
    is_meshed[triangles.ravel()] = is_meshed[_host(model.tet_indices, (0, 4)).ravel()] = True
    of_worlds, found = on_host(model.particle_world), []
    for world in chosen:
        found += _of_world(model, matter, owner, triangles, ~is_meshed, of_worlds == world, world)
        found += [cable for cable in cables if cable.world == world]
    return found


def _cables(model: newton.Model) -> Iterator[RenderMatter]:
    """Yield the cables of all worlds."""
    matter = Matter.of(model, *OF_BODIES)
    shapes = {body: shape for shape, body in reversed(list(enumerate(on_host(model.shape_body).tolist())))}
    for row, label in enumerate(matter.labels):
        first = int(matter.starts[row])
        shape = shapes[first]
        yield RenderMatter(
            label=label,
            world=int(matter.worlds[row]),
            particles=np.zeros(0, dtype=int),
            faces=np.zeros((0, 3), dtype=int),
            color=tuple(on_host(model.shape_color)[shape].tolist()),
            radius=float(on_host(model.shape_scale)[shape, 0]),
            bodies=np.arange(first, first + int(matter.counts[row])),
        )


def _of_world(
    model: newton.Model,
    matter: Matter,
    owner: np.ndarray,
    triangles: np.ndarray,
    is_loose: np.ndarray,
    is_here: np.ndarray,
    world: int,
) -> Iterator[RenderMatter]:
    """Yield the objects of a world. The masks and the owners, which are rows of `matter`, are those of particles."""
    colors = {True: _host(model.tri_color, (0, 3)), False: particle_colors(model)}
    radii, owners = on_host(model.particle_radius), owner[triangles[:, 0]]
    for row in np.unique(owner[is_here]).tolist():
        own = np.flatnonzero(is_here[triangles[:, 0]] & (owners == row)) if len(triangles) else np.zeros(0, dtype=int)
        loose = np.flatnonzero(is_here & is_loose & (owner == row))
        for faces, particles in ((triangles[own], np.unique(triangles[own])), (triangles[:0], loose)):
            if len(particles):
                color = colors[bool(len(faces))][(own if len(faces) else particles)[:1]].ravel().tolist()
                yield RenderMatter(
                    label=matter.labels[row] if row >= 0 else "surface" if len(faces) else "particles",
                    world=world,
                    particles=particles,
                    faces=np.searchsorted(particles, faces),
                    color=tuple(color) or SAND,
                    radius=float(radii[particles].mean()),
                )


def _host(array: object, empty: tuple[int, ...]) -> np.ndarray:
    """Return an array of the model on the host; if there is none, an empty one of a shape."""
    return np.zeros(empty, dtype=np.int32) if array is None else on_host(array)
