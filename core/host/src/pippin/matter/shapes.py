"""Shapes of a model as viewers draw them: where each is on its body, of what kind and size, and its triangles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import newton
import numpy as np
from pippin.arrays import on_host

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
                meshes[x, y, z] = barrel(x, y, z)
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


def barrel(radius: float, half_length: float, arc: float) -> newton.Mesh:
    """Return the surface of a cylinder along z whose side is an arc.

    Args:
        radius: Radius of the ends [m].
        half_length: Half of the length [m].
        arc: Radius of the arc [m].
    """
    return newton.Mesh.create_cylinder(radius, half_length, up_axis=newton.Axis.Z, barrel_radius=arc, **_PLAIN)


def _mesh_of(field: newton.Heightfield) -> newton.Mesh:
    heights = field.min_z + field.data * (field.max_z - field.min_z)
    sides = (2.0 * field.hx, 2.0 * field.hy)  # rows of a field run along y, those of the function along x
    return newton.Mesh.create_heightfield(heights.T, *sides, ground_z=field.min_z, compute_inertia=False)
