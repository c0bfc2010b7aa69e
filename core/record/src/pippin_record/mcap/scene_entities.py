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
from pippin.matter import RenderShape, render_shapes
from pippin.quaternions import rotated

_GROUND = 40.0
"""Size of an endless plane in the image [m]."""

_THIN = 0.002


def entities(
    model: newton.Model, worlds: Sequence[int], numbers: Sequence[int], offsets: np.ndarray
) -> Iterator[SceneEntity]:
    """Yield an entity for each body of some worlds, and one for each world's static shapes.

    Each world has a number, which is in its name, and an offset at which it is drawn [m].
    """
    groups: dict[tuple[int, int], list[RenderShape]] = {}
    for shape in render_shapes(model, worlds):
        groups.setdefault((shape.world, shape.body), []).append(shape)
    starts = on_host(model.body_world_start)
    for index, world in [(None, -1), *enumerate(worlds)]:
        offset = np.zeros(3) if index is None else offsets[index]
        if static := groups.get((world, -1)):
            name = "ground" if index is None else f"world_{numbers[index]}"
            yield _entity("world", name, [_primitives(shape, offset) for shape in static])
        for body in range(*starts[world : world + 2]) if index is not None else ():
            if of_body := groups.get((world, body)):
                frame = f"world_{numbers[index or 0]}/{model.body_label[body]}"
                yield _entity(frame, frame, [_primitives(shape, np.zeros(3)) for shape in of_body])


def _entity(frame: str, name: str, groups: Sequence[Sequence[Any]]) -> SceneEntity:
    """Return an entity of primitives, each in the list of its kind."""
    every = [each for group in groups for each in group]
    kinds = {"cubes": CubePrimitive, "spheres": SpherePrimitive, "cylinders": CylinderPrimitive}
    lists: Any = {key: [each for each in every if isinstance(each, kind)] for key, kind in kinds.items()}
    lists["triangles"] = [each for each in every if isinstance(each, TriangleListPrimitive)]
    return SceneEntity(frame_id=frame, id=name, frame_locked=True, **lists)


def _primitives(shape: RenderShape, offset: np.ndarray) -> list[Any]:
    """Return the primitives of a shape; a kind that has none gives an empty list."""
    pose, (red, green, blue), (x, y, z) = shape.pose.copy(), shape.color, shape.sizes
    pose[:3] += offset
    color = Color(r=red, g=green, b=blue, a=1.0)
    match shape.kind:
        case "plane":
            size = Vector3(x=x or _GROUND, y=y or _GROUND, z=_THIN)
            return [CubePrimitive(pose=_pose(pose), size=size, color=color)]
        case "box":
            return [CubePrimitive(pose=_pose(pose), size=Vector3(x=2 * x, y=2 * y, z=2 * z), color=color)]
        case "sphere":
            return [_ball(pose, x, x, x, color)]
        case "ellipsoid":
            return [_ball(pose, x, y, z, color)]
        case "capsule" | "cylinder" | "cone":
            top = 0.0 if shape.kind == "cone" else 1.0
            size = Vector3(x=2 * x, y=2 * x, z=2 * y)
            body = CylinderPrimitive(pose=_pose(pose), size=size, bottom_scale=1.0, top_scale=top, color=color)
            ends = ((0.0, 0.0, -y), (0.0, 0.0, y)) if shape.kind == "capsule" else ()
            centres = [pose[:3] + rotated(pose[3:], np.array(end)) for end in ends]
            return [body, *(_ball(np.array([*centre, *pose[3:]]), x, x, x, color) for centre in centres)]
        case "mesh":
            points, faces = shape.triangles()
            corners = [Point3(x=a, y=b, z=c) for a, b, c in points.tolist()]
            return [
                TriangleListPrimitive(pose=_pose(pose), points=corners, indices=faces.ravel().tolist(), color=color)
            ]
    return []


def _ball(pose: np.ndarray, x: float, y: float, z: float, color: Color) -> SpherePrimitive:
    return SpherePrimitive(pose=_pose(pose), size=Vector3(x=2 * x, y=2 * y, z=2 * z), color=color)


def _pose(pose: np.ndarray) -> Pose:
    x, y, z, qx, qy, qz, qw = pose.tolist()
    return Pose(position=Vector3(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))
