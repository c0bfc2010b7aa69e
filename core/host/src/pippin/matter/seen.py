"""Matter and shapes as viewers draw them: surfaces, grains and cables by object, and shapes by kind and size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

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
    return np.zeros(empty, dtype=np.int32) if array is None else on_host(array)


_ENDLESS = 100.0
"""Side of the triangles of a plane without end [m]."""

_PLAIN: Mapping[str, Any] = {"compute_normals": False, "compute_uvs": False, "compute_inertia": False}

_SURFACES: Mapping[str, Callable[..., newton.Mesh]] = {
    "sphere": lambda x, y, z: newton.Mesh.create_sphere(x, **_PLAIN),
    "ellipsoid": lambda x, y, z: newton.Mesh.create_ellipsoid(x, y, z, **_PLAIN),
    "box": lambda x, y, z: newton.Mesh.create_box(x, y, z, **_PLAIN),
    "capsule": lambda x, y, z: newton.Mesh.create_capsule(x, y, up_axis=newton.Axis.Z, **_PLAIN),
    "cylinder": lambda x, y, z: newton.Mesh.create_cylinder(x, y, up_axis=newton.Axis.Z, **_PLAIN),
    "cone": lambda x, y, z: newton.Mesh.create_cone(x, y, up_axis=newton.Axis.Z, **_PLAIN),
    "plane": lambda x, y, z: newton.Mesh.create_plane(x or _ENDLESS, y or _ENDLESS, **_PLAIN),
}
"""The surface of each kind without a mesh, by its sizes."""


@attrs.frozen(kw_only=True, eq=False)
class RenderShape:
    """One visible shape of one world."""

    index: int
    """Index of the shape in the model."""

    label: str
    """Label of the shape."""

    world: int
    """Index of the world; -1 for all."""

    body: int
    """Index of the body that carries it; -1 for the world."""

    pose: np.ndarray
    """Position [m] and unit quaternion (x, y, z, w) in the frame of the body, or of the world, shape [7]."""

    kind: str
    """`sphere`, `ellipsoid`, `box`, `capsule`, `cylinder`, `cone`, `plane`, `mesh`, or `gaussian` (splats).

    A height field and a cylinder with the side of a barrel are meshes.
    """

    sizes: tuple[float, float, float]
    """Sizes along x, y and z, by the kind:

    `sphere`: the radius [m], 0, 0. `ellipsoid` and `box`: half of each axis or side [m]. `capsule`, `cylinder` and
    `cone`: the radius, and half of the height about z [m], of a capsule without its caps, 0. `plane`: the sides along x
    and y [m], 0 for one without end. `mesh`: factors of its vertices.
    """

    color: tuple[float, float, float]
    """Red, green and blue from 0 to 1, as displays take them."""

    mesh: newton.Mesh | None = None
    """The vertices and triangles of a `mesh`, without its factors; shapes that share them have the same object."""

    def triangles(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the surface in the shape's own frame: points [m], shape [points, 3], and rows of them, [triangles, 3].

        Round shapes become polyhedra, a plane without end a square of 100 m, and splats nothing.
        """
        mesh = self.mesh
        if mesh is not None:
            return np.asarray(mesh.vertices) * self.sizes, np.asarray(mesh.indices).reshape(-1, 3)
        if self.kind not in _SURFACES:
            return np.zeros((0, 3)), np.zeros((0, 3), dtype=int)
        mesh = _SURFACES[self.kind](*self.sizes)
        return np.asarray(mesh.vertices), np.asarray(mesh.indices).reshape(-1, 3)


def render_shapes(model: newton.Model, worlds: Sequence[int] | np.ndarray) -> list[RenderShape]:
    """Return the visible shapes of some worlds and those that all worlds share, in the order of the model.

    The segments of cables are among them; other matter is in `render_matter`.

    Args:
        model: The model; read from the device.
        worlds: Indices of worlds.
    """
    return list(_seen(model, (-1, *np.asarray(worlds).tolist()))) if model.shape_count else []


def _seen(model: newton.Model, worlds: Sequence[int]) -> Iterator[RenderShape]:
    of_worlds, bodies, types = (on_host(each) for each in (model.shape_world, model.shape_body, model.shape_type))
    poses, sizes, colors = (on_host(each) for each in (model.shape_transform, model.shape_scale, model.shape_color))
    is_visible = (on_host(model.shape_flags) & int(newton.ShapeFlags.VISIBLE)) > 0
    meshes: dict[Any, newton.Mesh] = {}
    for shape in np.flatnonzero(is_visible & np.isin(of_worlds, worlds)).tolist():
        kind, source, (x, y, z) = newton.GeoType(int(types[shape])), model.shape_source[shape], sizes[shape].tolist()
        if isinstance(source, newton.Heightfield):
            if id(source) not in meshes:
                meshes[id(source)] = _mesh_of(source)
            source, x, y, z = meshes[id(source)], 1.0, 1.0, 1.0
        elif kind == newton.GeoType.CYLINDER and z > 0.0:
            if (x, y, z) not in meshes:
                meshes[x, y, z] = newton.Mesh.create_cylinder(x, y, up_axis=newton.Axis.Z, barrel_radius=z, **_PLAIN)
            source, x, y, z = meshes[x, y, z], 1.0, 1.0, 1.0
        mesh = source if isinstance(source, newton.Mesh) else None
        yield RenderShape(
            index=shape,
            label=model.shape_label[shape],
            world=int(of_worlds[shape]),
            body=int(bodies[shape]),
            pose=poses[shape].astype(float),
            kind=kind.name.lower() if mesh is None else "mesh",
            sizes=(x, y, z),
            color=tuple(colors[shape].tolist()),
            mesh=mesh,
        )


def _mesh_of(field: newton.Heightfield) -> newton.Mesh:
    heights = field.min_z + field.data * (field.max_z - field.min_z)
    sides = (2.0 * field.hx, 2.0 * field.hy)  # rows of a field run along y, those of the function along x
    return newton.Mesh.create_heightfield(heights.T, *sides, ground_z=field.min_z, compute_inertia=False)
