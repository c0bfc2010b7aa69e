"""Recorder `mcap`: a log for robot tools, with transforms, a scene, joint states, and a message for each sensor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import foxglove
import numpy as np
from foxglove.mcap import MCAPCompression, MCAPWriteOptions
from pippin.recording import Header, Recorder

from .file import METADATA
from .joining import join
from .messages import MessageEncoder, Topic, encoded_time, topics_of
from .robot_messages import RobotMessages


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
        self._writer.write_metadata(METADATA, {"header": header.to_json(), **header.versions})
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
