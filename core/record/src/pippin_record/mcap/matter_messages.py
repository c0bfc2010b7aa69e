"""Messages of matter for viewers of logs: surfaces and tendons in a scene of each world, and clouds of grains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import foxglove
import numpy as np
from foxglove.messages import (
    Color,
    LinePrimitive,
    LinePrimitiveLineType,
    PackedElementField,
    PackedElementFieldNumericType,
    Point3,
    PointCloud,
    Pose,
    Quaternion,
    SceneEntity,
    SceneUpdate,
    Timestamp,
    TriangleListPrimitive,
    Vector3,
)
from pippin import Host
from pippin.arrays import on_host
from pippin.matter import SeenMatter, SeenTendon, line_radius, seen_matter, seen_tendons

_AT_ORIGIN = Pose(position=Vector3(x=0.0, y=0.0, z=0.0), orientation=Quaternion(x=0.0, y=0.0, z=0.0, w=1.0))

_POINT = np.dtype([("place", "<f4", 3), ("color", "u1", 4)])
"""A grain in a cloud."""

_FLOAT, _BYTE = PackedElementFieldNumericType.Float32, PackedElementFieldNumericType.Uint8
_FIELDS = [PackedElementField(name=name, offset=4 * index, type=_FLOAT) for index, name in enumerate("xyz")]
_FIELDS += [
    PackedElementField(name=name, offset=12 + index, type=_BYTE)
    for index, name in enumerate(("red", "green", "blue", "alpha"))
]


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
        context: foxglove.Context,
    ) -> None:
        model = simulation.model
        objects = [seen for seen in seen_matter(model, worlds) if len(seen.particles)]
        tendons = seen_tendons(model, worlds)
        self._bodies = np.zeros((model.body_count, 7))
        self._firsts = on_host(model.body_world_start)[list(worlds)]
        particles = on_host(model.particle_world_start)[list(worlds)]
        self._worlds = [
            _World(
                number,
                int(first),
                offset,
                [seen for seen in objects if seen.world == world],
                [seen for seen in tendons if seen.world == world],
                context,
            )
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

    def __init__(
        self,
        number: int,
        first: int,
        offset: np.ndarray,
        objects: Sequence[SeenMatter],
        tendons: Sequence[SeenTendon],
        context: foxglove.Context,
    ) -> None:
        self._number, self._first, self._offset = number, first, offset
        self._surfaces = [seen for seen in objects if len(seen.faces)]
        self._grains = [seen for seen in objects if not len(seen.faces)]
        self._tendons = tendons
        self._scene: foxglove.Channel | None = None
        if self._surfaces or tendons:
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


def channel_of(
    topic: str, message: Any, context: foxglove.Context, metadata: dict[str, str] | None = None
) -> foxglove.Channel:
    """Return the channel of a topic with messages of a class."""
    options = {"schema": message.get_schema(), "message_encoding": "protobuf", "metadata": metadata}
    return foxglove.Channel(topic, context=context, **options)
