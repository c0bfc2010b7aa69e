"""Messages of what 3-D panels show: the shapes of bodies, matter and tendons, and arrows for the forces of contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import newton
import numpy as np
from foxglove import Channel, Context
from foxglove.messages import (
    ArrowPrimitive,
    Color,
    CubePrimitive,
    CylinderPrimitive,
    LinePrimitive,
    LinePrimitiveLineType,
    PackedElementField,
    PackedElementFieldNumericType,
    Point3,
    PointCloud,
    Pose,
    Quaternion,
    SceneEntity,
    SceneEntityDeletion,
    SceneEntityDeletionType,
    SceneUpdate,
    SpherePrimitive,
    Timestamp,
    TriangleListPrimitive,
    Vector3,
)
from pippin import Host
from pippin.arrays import on_host
from pippin.matter import (
    RenderMatter,
    RenderShape,
    RenderTendon,
    line_radius,
    render_matter,
    render_shapes,
    render_tendons,
)
from pippin.quaternions import rotated

_GROUND = 40.0
"""Size of an endless plane in the image [m]."""

_THIN = 0.002

COLUMNS = ("contacts/bodies", "contacts/point", "contacts/force")
"""The columns that arrows are drawn of."""

_BLUE = Color(r=0.0, g=0.27, b=1.0, a=1.0)
_SHORTEST = 0.02
"""The shortest arrow that is drawn, relative to the size of the world's contents."""

_AT_ORIGIN = Pose(position=Vector3(x=0.0, y=0.0, z=0.0), orientation=Quaternion(x=0.0, y=0.0, z=0.0, w=1.0))

_POINT = np.dtype([("place", "<f4", 3), ("color", "u1", 4)])
"""A grain in a cloud."""

_FLOAT, _BYTE = PackedElementFieldNumericType.Float32, PackedElementFieldNumericType.Uint8
_FIELDS = [PackedElementField(name=name, offset=4 * index, type=_FLOAT) for index, name in enumerate("xyz")]
_FIELDS += [
    PackedElementField(name=name, offset=12 + index, type=_BYTE)
    for index, name in enumerate(("red", "green", "blue", "alpha"))
]


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
            yield _entity("world", name, static, offset)
        for body in range(*starts[world : world + 2]) if index is not None else ():
            if of_body := groups.get((world, body)):
                frame = f"world_{numbers[index or 0]}/{model.body_label[body]}"
                yield _entity(frame, frame, of_body, np.zeros(3))


def _entity(frame: str, name: str, shapes: Sequence[RenderShape], offset: np.ndarray) -> SceneEntity:
    every = [each for shape in shapes for each in _primitives(shape, offset)]
    kinds = {"cubes": CubePrimitive, "spheres": SpherePrimitive, "cylinders": CylinderPrimitive}
    kinds |= {"triangles": TriangleListPrimitive}
    lists: Any = {key: [each for each in every if isinstance(each, kind)] for key, kind in kinds.items()}
    return SceneEntity(frame_id=frame, id=name, frame_locked=True, **lists)


def _primitives(shape: RenderShape, offset: np.ndarray) -> list[Any]:
    """Return the primitives of a shape; a kind that has none gives an empty list."""
    pose, (x, y, z), color = shape.pose.copy(), shape.sizes, _color(shape.color)
    pose[:3] += offset
    place = _pose(pose)
    match shape.kind:
        case "plane":
            size = Vector3(x=x or _GROUND, y=y or _GROUND, z=_THIN)
            return [CubePrimitive(pose=place, size=size, color=color)]
        case "box":
            return [CubePrimitive(pose=place, size=_twice(x, y, z), color=color)]
        case "sphere":
            return [SpherePrimitive(pose=place, size=_twice(x, x, x), color=color)]
        case "ellipsoid":
            return [SpherePrimitive(pose=place, size=_twice(x, y, z), color=color)]
        case "capsule" | "cylinder" | "cone":
            top = 0.0 if shape.kind == "cone" else 1.0
            body = CylinderPrimitive(pose=place, size=_twice(x, x, y), bottom_scale=1.0, top_scale=top, color=color)
            ends = ((0.0, 0.0, -y), (0.0, 0.0, y)) if shape.kind == "capsule" else ()
            centres = [pose[:3] + rotated(pose[3:], np.array(end)) for end in ends]
            places = [_pose(np.array([*centre, *pose[3:]])) for centre in centres]
            return [body, *(SpherePrimitive(pose=each, size=_twice(x, x, x), color=color) for each in places)]
        case "mesh":
            points, faces = shape.triangles()
            indices = faces.ravel().tolist()
            return [TriangleListPrimitive(pose=place, points=_points(points), indices=indices, color=color)]
    return []


def _twice(x: float, y: float, z: float) -> Vector3:
    return Vector3(x=2 * x, y=2 * y, z=2 * z)


def _pose(pose: np.ndarray) -> Pose:
    x, y, z, qx, qy, qz, qw = pose.tolist()
    return Pose(position=Vector3(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


class MatterMessages:
    """Logs `/world_<k>/matter` and `/world_<k>/points/LABEL` from the columns `particle_q` and `body_q`.

    Cables need none of it: their segments are bodies. The arguments are those of `ContactMessages`.
    """

    def __init__(
        self,
        simulation: Host,
        worlds: Sequence[int],
        numbers: Sequence[int],
        offsets: np.ndarray,
        context: Context,
    ) -> None:
        model = simulation.model
        every = [*render_matter(model, worlds), *render_tendons(model, worlds)]
        self._bodies = np.zeros((model.body_count, 7))
        self._firsts = on_host(model.body_world_start)[list(worlds)]
        particles = on_host(model.particle_world_start)[list(worlds)]
        self._worlds = [
            _World(number, int(first), offset, [seen for seen in every if seen.world == world], context)
            for world, number, first, offset in zip(worlds, numbers, particles, offsets, strict=True)
        ]

    def log(self, row: np.void, nanoseconds: int) -> None:
        """Log the messages of a row."""
        names = row.dtype.names or ()
        for index, (world, first) in enumerate(zip(self._worlds, self._firsts, strict=True)):
            if "body_q" in names:
                poses = row["body_q"][index]
                self._bodies[first : first + len(poses)] = poses
            particles = row["particle_q"][index] if "particle_q" in names else np.zeros((0, 3))
            world.log(particles, self._bodies, nanoseconds)


class _World:
    """The topics of one world. `first` is its first particle."""

    def __init__(self, number: int, first: int, offset: np.ndarray, every: Sequence[Any], context: Context) -> None:
        self._number, self._first, self._offset = number, first, offset
        self._tendons = [seen for seen in every if isinstance(seen, RenderTendon)]
        objects = [seen for seen in every if isinstance(seen, RenderMatter) and len(seen.particles)]
        self._surfaces = [seen for seen in objects if len(seen.faces)]
        self._grains = [seen for seen in objects if not len(seen.faces)]
        self._scene: Channel | None = None
        if self._surfaces or self._tendons:
            self._scene = channel_of(f"/world_{number}/matter", SceneUpdate, context)
        self._clouds = [
            channel_of(f"/world_{number}/points/{seen.label}", PointCloud, context) for seen in self._grains
        ]

    def log(self, particles: np.ndarray, bodies: np.ndarray, nanoseconds: int) -> None:
        """Log the particles of the world, shape [particles, 3], and its tendons on the bodies of the model."""
        stamp = Timestamp(*divmod(nanoseconds, 1_000_000_000))
        if self._scene is not None:
            update = SceneUpdate(entities=list(self._entities(particles, bodies, stamp)))
            self._scene.log(update.encode(), log_time=nanoseconds)
        for seen, channel in zip(self._grains, self._clouds, strict=True):
            points = np.zeros(len(seen.particles), dtype=_POINT)
            points["place"] = particles[seen.particles - self._first] + self._offset
            points["color"] = [*(round(255.0 * part) for part in seen.color), 255]
            cloud = PointCloud(
                timestamp=stamp,
                frame_id="world",
                pose=_AT_ORIGIN,
                point_stride=_POINT.itemsize,
                fields=_FIELDS,
                data=points.tobytes(),
            )
            channel.log(cloud.encode(), log_time=nanoseconds)

    def _entities(self, particles: np.ndarray, bodies: np.ndarray, stamp: Timestamp) -> Iterator[SceneEntity]:
        for seen in self._surfaces:
            mesh = TriangleListPrimitive(
                pose=_AT_ORIGIN,
                points=_points(particles[seen.particles - self._first] + self._offset),
                color=_color(seen.color),
                indices=seen.faces.ravel().tolist(),
            )
            yield self._entity(seen.label, stamp, triangles=[mesh])
        for seen in self._tendons:
            line = LinePrimitive(
                type=LinePrimitiveLineType.LineStrip,
                pose=_AT_ORIGIN,
                thickness=2.0 * line_radius(1.0),
                points=_points(seen.points(bodies) + self._offset),
                color=_color(seen.color),
            )
            yield self._entity(seen.label, stamp, lines=[line])

    def _entity(self, label: str, stamp: Timestamp, **primitives: Any) -> SceneEntity:
        return SceneEntity(timestamp=stamp, frame_id="world", id=f"world_{self._number}/{label}", **primitives)


def _points(places: np.ndarray) -> list[Point3]:
    return [Point3(x=x, y=y, z=z) for x, y, z in places.tolist()]


def _color(color: Sequence[float]) -> Color:
    red, green, blue = color
    return Color(r=red, g=green, b=blue, a=1.0)


def channel_of(topic: str, message: Any, context: Context, metadata: dict[str, str] | None = None) -> Channel:
    """Return the channel of a topic with messages of a class."""
    options = {"schema": message.get_schema(), "message_encoding": "protobuf", "metadata": metadata}
    return Channel(topic, context=context, **options)


class ContactMessages:
    """Logs `/world_<k>/contact_forces` from the columns of contacts; an arrow as long as the robot is its weight.

    The force is that on the body that moves, or on the first of two.

    Args:
        worlds: Indices of the recorded worlds in it.
        numbers: Numbers of these worlds in the run.
        offsets: Position at which each of them is drawn [m], shape [worlds, 3].
    """

    def __init__(
        self,
        simulation: Host,
        worlds: Sequence[int],
        numbers: Sequence[int],
        offsets: np.ndarray,
        context: Context,
    ) -> None:
        model, state = simulation.model, simulation.state
        self._offsets = offsets
        self._size = _size_of(model, state, worlds[0])
        weight = 9.81 * float(on_host(model.body_mass)[on_host(model.body_world) == worlds[0]].sum())
        self._scale = self._size / (weight or 1.0)
        metadata = {"scale": f"{self._scale:.6g} m/N"}
        self._channels = [
            channel_of(f"/world_{number}/contact_forces", SceneUpdate, context, metadata) for number in numbers
        ]

    def log(self, row: np.void, nanoseconds: int) -> None:
        """Log the messages of a row."""
        stamp = Timestamp(*divmod(nanoseconds, 1_000_000_000))
        every = zip(self._channels, self._offsets, *(row[name] for name in COLUMNS), strict=True)
        for channel, offset, bodies, points, forces in every:
            on_moved = np.where(bodies[:, :1] < 0, -forces, forces)  # the first of them may be the ground
            arrows = list(self._arrows(points + offset, on_moved))
            entity = SceneEntity(timestamp=stamp, frame_id="world", id="forces", arrows=arrows)
            before = SceneEntityDeletion(timestamp=stamp, type=SceneEntityDeletionType.All)
            update = SceneUpdate(deletions=[before], entities=[entity] if arrows else [])
            channel.log(update.encode(), log_time=nanoseconds)

    def _arrows(self, points: np.ndarray, forces: np.ndarray) -> Iterator[ArrowPrimitive]:
        lengths = self._scale * np.linalg.norm(forces, axis=-1)
        for index in np.flatnonzero(lengths > _SHORTEST * self._size):
            x, y, z = points[index].tolist()
            thickness, length = 0.03 * self._size, float(lengths[index])
            head = min(2.0 * thickness, 0.5 * length)
            yield ArrowPrimitive(
                pose=Pose(position=Vector3(x=x, y=y, z=z), orientation=_turned_to(forces[index])),
                shaft_length=length - head,
                shaft_diameter=thickness,
                head_length=head,
                head_diameter=2.0 * thickness,
                color=_BLUE,
            )


def _size_of(model: newton.Model, state: newton.State, world: int) -> float:
    """Return the size of what moves in a world [m]; 1 without shapes."""
    bodies, radii = on_host(model.shape_body), on_host(model.shape_collision_radius)
    own = (on_host(model.shape_world) == world) & (bodies >= 0)
    if not own.any():
        return 1.0
    places = on_host(state.body_q)[bodies[own], :3]
    return float((np.linalg.norm(places - places.mean(axis=0), axis=1) + radii[own]).max())


def _turned_to(direction: np.ndarray) -> Quaternion:
    x, y, z = (direction / np.linalg.norm(direction)).tolist()
    if x < -0.999999:
        return Quaternion(x=0.0, y=0.0, z=1.0, w=0.0)
    w = np.sqrt((1.0 + x) / 2.0)
    return Quaternion(x=0.0, y=-z / (2.0 * w), z=y / (2.0 * w), w=w)
