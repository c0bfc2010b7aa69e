"""Recorder `mcap`: a log for robot tools, with transforms, a scene, joint states, and a message for each sensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import foxglove
import numpy as np
from foxglove.mcap import MCAPCompression, MCAPWriteOptions
from foxglove.messages import (
    FrameTransform,
    FrameTransforms,
    JointState,
    JointStates,
    Quaternion,
    SceneUpdate,
    Timestamp,
    Vector3,
)
from pippin import Host
from pippin.arrays import on_host
from pippin.axes import axis_labels
from pippin.recording import Header, Recorder

from .file import METADATA, join, metadata_of
from .messages import MessageEncoder, Topic, encoded_time, topics_of
from .scene_messages import COLUMNS, ContactMessages, MatterMessages, channel_of, entities


@attrs.frozen
class _Axis:
    """A joint's axis with a coordinate of its own, and the indices of its numbers in a row."""

    label: str
    position: int
    velocity: int
    effort: tuple[str, int] | None
    """Name and index in the actuators' columns; None if no recorded actuator drives the axis."""


class RobotMessages:
    """Logs `/tf`, `/scene`, matter and `/world_<k>/joint_states`, as far as the recorded columns allow.

    `worlds` are indices in the simulation; the header has the numbers of these worlds in the run.
    """

    def __init__(
        self,
        simulation: Host,
        worlds: Sequence[int],
        header: Header,
        context: foxglove.Context,
        *,
        is_scene_shown: bool,
    ) -> None:
        columns = {column.name: column for column in header.columns}
        self._offsets = simulation.world_offsets[list(worlds)]
        self._frames, self._axes, self._joints = [], [], []
        if is_scene_shown and "body_q" in columns:
            labels = columns["body_q"].labels
            self._frames = [[f"world_{world}/{label}" for label in labels] for world in header.worlds]
            self._transforms = channel_of("/tf", FrameTransforms, context)
        self._parts: list[ContactMessages | MatterMessages] = []
        if is_scene_shown:
            scene = channel_of("/scene", SceneUpdate, context)
            update = SceneUpdate(entities=list(entities(simulation.model, worlds, header.worlds, self._offsets)))
            scene.log(update.encode(), log_time=0)
            kinds = (MatterMessages, *([ContactMessages] if columns.keys() >= {*COLUMNS} else []))
            self._parts = [kind(simulation, worlds, header.worlds, self._offsets, context) for kind in kinds]
        if {"joint_q", "joint_qd"} <= columns.keys():
            efforts = {
                label: (name, index)
                for name, column in columns.items()
                if name.endswith("/applied_effort")
                for index, label in enumerate(column.labels)
            }
            self._axes = list(_axes(simulation, worlds[0], efforts))
        if self._axes:
            topics = (f"/world_{world}/joint_states" for world in header.worlds)
            self._joints = [channel_of(topic, JointStates, context) for topic in topics]

    def log(self, row: np.void, nanoseconds: int) -> None:
        """Log the messages of a row."""
        stamp = Timestamp(*divmod(nanoseconds, 1_000_000_000))
        if self._frames:
            message = FrameTransforms(transforms=list(self._poses(row["body_q"], stamp)))
            self._transforms.log(message.encode(), log_time=nanoseconds)
        for part in self._parts:
            part.log(row, nanoseconds)
        for index, channel in enumerate(self._joints):
            message = JointStates(timestamp=stamp, joints=list(self._states(row, index)))
            channel.log(message.encode(), log_time=nanoseconds)

    def _poses(self, body_q: np.ndarray, stamp: Timestamp) -> Iterator[FrameTransform]:
        for frames, offset, poses in zip(self._frames, self._offsets, body_q, strict=True):
            for frame, (x, y, z, *rotation) in zip(frames, poses.tolist(), strict=True):
                yield FrameTransform(
                    timestamp=stamp,
                    parent_frame_id="world",
                    child_frame_id=frame,
                    translation=Vector3(x=x + offset[0], y=y + offset[1], z=z + offset[2]),
                    rotation=Quaternion(x=rotation[0], y=rotation[1], z=rotation[2], w=rotation[3]),
                )

    def _states(self, row: np.void, index: int) -> Iterator[JointState]:
        positions, velocities = row["joint_q"][index].tolist(), row["joint_qd"][index].tolist()
        for axis in self._axes:
            effort = None if axis.effort is None else float(row[axis.effort[0]][index, axis.effort[1]])
            yield JointState(
                name=axis.label, position=positions[axis.position], velocity=velocities[axis.velocity], effort=effort
            )


def _axes(simulation: Host, world: int, efforts: Mapping[str, tuple[str, int]]) -> Iterator[_Axis]:
    model = simulation.model
    coordinates, dofs = on_host(model.joint_q_start), on_host(model.joint_qd_start)
    first, last = on_host(model.joint_world_start)[world : world + 2].tolist()
    for joint in range(first, last):
        count = int(dofs[joint + 1] - dofs[joint])
        if count == coordinates[joint + 1] - coordinates[joint]:
            position, velocity = int(coordinates[joint] - coordinates[first]), int(dofs[joint] - dofs[first])
            for axis, label in enumerate(axis_labels(model, [joint])):
                yield _Axis(label, position + axis, velocity + axis, efforts.get(label))


class McapRecorder(Recorder):
    """MCAP, opened by Foxglove, Lichtblick, PlotJuggler, Rerun and `pippin.Run`; needs the extra `pippin[mcap]`.

    `/tf` has a `foxglove.FrameTransforms` of all bodies, `/scene` a `foxglove.SceneUpdate` of their shapes, and
    `/world_0/joint_states` a `foxglove.JointStates` of the joints with one coordinate. `/world_0/matter` has surfaces
    and tendons, `/world_0/points/LABEL` a `foxglove.PointCloud` of grains, and `/world_0/contact_forces` arrows, if the
    series have contacts. Each sensor and actuator has a
    message with a field for each channel, such as `/world_0/sensors/torso`; `/world_0/state` has the other channels.
    Log times are simulated time. `pippin recover` completes a file whose process was killed.
    """

    suffix = ".mcap"

    @property
    def needed(self) -> Sequence[str]:
        """The poses of the bodies and the positions of the particles, for the scene."""
        return ("body_q", "particle_q") if self.config.scene else ()

    def open(self, path: Path, header: Header) -> None:
        """Begin the file with the header and the scene."""
        kinds = {"zstd": MCAPCompression.Zstd, "lz4": MCAPCompression.Lz4, None: None}
        options = MCAPWriteOptions(compression=kinds[self.config.compression], compression_threads=0)
        self._context = foxglove.Context()
        self._writer = foxglove.open_mcap(path, allow_overwrite=True, context=self._context, writer_options=options)
        self._writer.write_metadata(METADATA, metadata_of(header))
        self._writer.attach(
            log_time=0, create_time=0, name="config.toml", media_type="application/toml", data=header.config.encode()
        )
        self._topics = [
            (MessageEncoder(topic.columns), self._channels(topic, header.worlds)) for topic in topics_of(header.columns)
        ]
        self._robots = RobotMessages(
            self._simulation, self.worlds.tolist(), header, self._context, is_scene_shown=self.config.scene
        )
        self._writer.flush()

    def _channels(self, topic: Topic, worlds: Sequence[int]) -> list[Any]:
        schema = foxglove.Schema(name=topic.schema_name, encoding="protobuf", data=topic.schema())
        return [
            foxglove.Channel(
                topic.of_world(world),
                schema=schema,
                message_encoding="protobuf",
                context=self._context,
                metadata=topic.metadata(),
            )
            for world in worlds
        ]

    def write(self, rows: np.ndarray) -> None:
        """Append the messages of rows, and finish their chunk."""
        for row in rows:
            nanoseconds = round(float(row["time"]) * 1e9)
            time = encoded_time(float(row["time"]), nanoseconds)
            for encoder, channels in self._topics:
                for channel, message in zip(channels, encoder.messages(row, time), strict=True):
                    channel.log(message, log_time=nanoseconds)
            self._robots.log(row, nanoseconds)
        self._writer.flush()

    def finish(self) -> None:
        """Write the summary, and close the file."""
        self._writer.close()

    def join(self, files: Any, path: Path) -> None:
        """Write the messages of the files of several processes into one file."""
        join(files, path, self.config.compression)
