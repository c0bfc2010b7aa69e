"""Entities of a scene for viewers of logs: the visible shapes of each body, fixed to the body's frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import newton
import numpy as np
from foxglove.messages import (
    Color,
    CubePrimitive,
    CylinderPrimitive,
    Point3,
    Pose,
    Quaternion,
    SceneEntity,
    SpherePrimitive,
    TriangleListPrimitive,
    Vector3,
)
from pippin.arrays import on_host
from pippin.quaternions import rotated

_GROUND = 40.0
"""Size of an endless plane in the image [m]."""

_THIN = 0.002
_GREY = (0.6, 0.6, 0.65)


def entities(
    model: newton.Model, worlds: Sequence[int], numbers: Sequence[int], offsets: np.ndarray
) -> Iterator[SceneEntity]:
    """Yield an entity for each body of some worlds, and one for each world's static shapes.

    Each world has a number, which is in its name, and an offset at which it is drawn [m].
    """
    shapes, of_shape = _ShapePrimitives(model), on_host(model.shape_world)
    body_of_shape, starts = on_host(model.shape_body), on_host(model.body_world_start)
    for index, world in [(None, -1), *enumerate(worlds)]:
        own = [int(shape) for shape in np.flatnonzero(of_shape == world) if shapes.is_visible(int(shape))]
        static = [shape for shape in own if body_of_shape[shape] < 0]
        offset = np.zeros(3) if index is None else offsets[index]
        if static:
            name = "ground" if index is None else f"world_{numbers[index]}"
            yield _entity("world", name, [shapes.primitive(shape, offset) for shape in static])
        for body in range(*starts[world : world + 2]) if index is not None else ():
            of_body = [shapes.primitive(shape, np.zeros(3)) for shape in own if body_of_shape[shape] == body]
            if of_body:
                frame = f"world_{numbers[index or 0]}/{model.body_label[body]}"
                yield _entity(frame, frame, of_body)


def _entity(frame: str, name: str, groups: Sequence[Sequence[Any]]) -> SceneEntity:
    """Return an entity of primitives, each in the list of its kind."""
    every = [each for group in groups for each in group]
    kinds = {"cubes": CubePrimitive, "spheres": SpherePrimitive, "cylinders": CylinderPrimitive}
    lists: Any = {key: [each for each in every if isinstance(each, kind)] for key, kind in kinds.items()}
    lists["triangles"] = [each for each in every if isinstance(each, TriangleListPrimitive)]
    return SceneEntity(frame_id=frame, id=name, frame_locked=True, **lists)


class _ShapePrimitives:
    """The shapes of a model as primitives."""

    def __init__(self, model: newton.Model) -> None:
        self._types, self._flags = on_host(model.shape_type), on_host(model.shape_flags)
        self._sizes, self._poses = on_host(model.shape_scale), on_host(model.shape_transform)
        self._sources = model.shape_source
        self._colors = None if getattr(model, "shape_color", None) is None else on_host(model.shape_color)

    def is_visible(self, shape: int) -> bool:
        return bool(self._flags[shape] & newton.ShapeFlags.VISIBLE)

    def primitive(self, shape: int, offset: np.ndarray) -> list[Any]:
        """Return the primitives of a shape; a kind that has none gives an empty list."""
        pose, kind = self._poses[shape].astype(float), newton.GeoType(int(self._types[shape]))
        pose[:3] += offset
        red, green, blue = _GREY if self._colors is None else self._colors[shape].tolist()
        color = Color(r=red, g=green, b=blue, a=1.0)
        x, y, z = self._sizes[shape].tolist()
        if kind == newton.GeoType.PLANE:
            size = Vector3(x=x or _GROUND, y=y or _GROUND, z=_THIN)
            return [CubePrimitive(pose=_pose(pose), size=size, color=color)]
        if kind == newton.GeoType.BOX:
            return [CubePrimitive(pose=_pose(pose), size=Vector3(x=2 * x, y=2 * y, z=2 * z), color=color)]
        if kind == newton.GeoType.SPHERE:
            return [_ball(pose, x, x, x, color)]
        if kind == newton.GeoType.ELLIPSOID:
            return [_ball(pose, x, y, z, color)]
        if kind in (newton.GeoType.CAPSULE, newton.GeoType.CYLINDER, newton.GeoType.CONE):
            top = 0.0 if kind == newton.GeoType.CONE else 1.0
            size = Vector3(x=2 * x, y=2 * x, z=2 * y)
            body = CylinderPrimitive(pose=_pose(pose), size=size, bottom_scale=1.0, top_scale=top, color=color)
            ends = ((0.0, 0.0, -y), (0.0, 0.0, y)) if kind == newton.GeoType.CAPSULE else ()
            centres = [pose[:3] + rotated(pose[3:], np.array(end)) for end in ends]
            return [body, *(_ball(np.array([*centre, *pose[3:]]), x, x, x, color) for centre in centres)]
        source: Any = self._sources[shape]
        if hasattr(source, "vertices"):
            points = (np.asarray(source.vertices) * (x, y, z)).tolist()
            indices = np.asarray(source.indices).ravel().tolist()
            corners = [Point3(x=a, y=b, z=c) for a, b, c in points]
            return [TriangleListPrimitive(pose=_pose(pose), points=corners, indices=indices, color=color)]
        return []


def _ball(pose: np.ndarray, x: float, y: float, z: float, color: Color) -> SpherePrimitive:
    return SpherePrimitive(pose=_pose(pose), size=Vector3(x=2 * x, y=2 * y, z=2 * z), color=color)


def _pose(pose: np.ndarray) -> Pose:
    x, y, z, qx, qy, qz, qw = pose.tolist()
    return Pose(position=Vector3(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))
