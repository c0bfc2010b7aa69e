"""Recorder `mcap`: a log for robot tools, with transforms, a scene, joint states, and a message for each sensor."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np
from pippin.errors import ConfigError
from pippin.extras import import_library

from .config import RecorderConfig
from .header import Header, not_ours
from .mcap_joining import join
from .mcap_records import METADATA, records
from .messages import Topic, encoded_time, time_of, topics_of
from .parts import Parts
from .recorder import Recorder

__all__ = ["McapConfig", "McapFile", "McapRecorder", "mend"]


@attrs.frozen(kw_only=True)
class McapConfig(RecorderConfig):
    """Settings of the recorder `mcap`."""

    scene: bool = True
    """Whether bodies and their shapes are recorded: the topics `/tf` and `/scene`, which 3-D panels show."""

    compression: Literal["zstd", "lz4"] | None = "zstd"
    """Compression of the chunks."""


class McapRecorder(Recorder):
    """MCAP, opened by Foxglove, Lichtblick, PlotJuggler, Rerun and `pippin.open_run`; needs the extra `pippin[mcap]`.

    `/tf` has a `foxglove.FrameTransforms` of all bodies, `/scene` a `foxglove.SceneUpdate` of their shapes, and
    `/world_0/joint_states` a `foxglove.JointStates` of the joints with one coordinate. Each sensor and actuator has a
    message with a field for each channel, such as `/world_0/sensors/torso`; `/world_0/state` has the other channels.
    Log times are simulated time. `pippin recover` completes a file whose process was killed.
    """

    Config = McapConfig
    suffix = ".mcap"

    def require(self) -> None:
        """Import the Foxglove SDK, and what makes the messages."""
        import_library("foxglove", "mcap")
        import_library("mcap", "mcap")
        import_library("google.protobuf", "mcap")

    @property
    def needed(self) -> Sequence[str]:
        """The poses of the bodies, for the scene."""
        return ("body_q",) if self.config.scene else ()

    def open(self, path: Path, header: Header) -> None:
        """Begin the file with the header and the scene."""
        import foxglove
        from foxglove.mcap import MCAPCompression, MCAPWriteOptions

        from .robot_messages import RobotMessages

        kinds = {"zstd": MCAPCompression.Zstd, "lz4": MCAPCompression.Lz4, None: None}
        options = MCAPWriteOptions(compression=kinds[self.config.compression], compression_threads=0)
        self._context = foxglove.Context()
        self._writer = foxglove.open_mcap(path, allow_overwrite=True, context=self._context, writer_options=options)
        self._writer.write_metadata(METADATA, {"header": header.to_json(), **header.versions})
        self._writer.attach(
            log_time=0, create_time=0, name="config.toml", media_type="application/toml", data=header.config.encode()
        )
        self._topics = [(topic.encoder(), self._channels(topic, header.worlds)) for topic in topics_of(header.columns)]
        self._robots = RobotMessages(
            self._simulation, self.worlds.tolist(), header, self._context, is_scene_shown=self.config.scene
        )
        self._writer.flush()

    def _channels(self, topic: Topic, worlds: Sequence[int]) -> list[Any]:
        import foxglove

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

    def join(self, parts: Parts, path: Path) -> None:
        """Write the messages of the files of several processes into one file."""
        join(parts, path, self.config.compression)


class McapFile:
    """A file of the recorder `mcap`, also one that is cut off; its messages are read at first use, and kept in memory.

    Args:
        path: The file.

    Raises:
        ConfigError: The file is damaged, or no recorder wrote it.
        PluginError: The library of the format is not installed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        found = (each for each in records(path) if type(each).__name__ == "Metadata" and each.name == METADATA)
        metadata = next(found, None)
        if metadata is None:
            raise ConfigError(not_ours(path, "without the recorder's metadata"))
        self.header = Header.from_json(metadata.metadata["header"], str(path))
        self._topics = topics_of(self.header.columns)

    @cached_property
    def _payloads(self) -> dict[str, list[bytes]]:
        """The messages of each topic."""
        payloads: dict[str, list[bytes]] = {}
        names: dict[int, str] = {}
        for record in records(self._path):
            kind = type(record).__name__
            if kind == "Channel":
                names[record.id] = record.topic
            elif kind == "Message":
                payloads.setdefault(names[record.channel_id], []).append(record.data)
        return payloads

    @cached_property
    def _count(self) -> int:
        """Number of rows whose messages are all there."""
        return min((len(each) for topic in self._topics for each in self._of_worlds(topic)), default=0)

    def column(self, name: str) -> np.ndarray:
        """Return the values of a column, shape [rows, worlds, …]."""
        if name == "time":
            first = next(self._of_worlds(self._topics[0]))
            return np.array([time_of(payload) for payload in first[: self._count]], dtype=np.float64)
        topic = next(each for each in self._topics if any(column.name == name for column in each.columns))
        worlds = [topic.decoded(payloads[: self._count], name) for payloads in self._of_worlds(topic)]
        return np.stack(worlds, axis=1)

    def _of_worlds(self, topic: Topic) -> Iterator[list[bytes]]:
        for world in self.header.worlds:
            yield self._payloads.get(topic.of_world(world), [])

    def close(self) -> None:
        """Do nothing: the messages are in memory."""


def mend(path: Path) -> tuple[Path, int]:
    """Write the records of a file that was cut off into a complete one, which takes its place."""
    writers: Any = import_library("mcap.writer", "mcap")
    found = McapFile(path)
    partial = path.with_name(f"{path.name}.part")
    schemas: dict[int, int] = {0: 0}
    channels: dict[int, int] = {}
    with partial.open("wb") as file:
        writer = writers.Writer(file)
        writer.start()
        for record in records(path):
            _copy(writer, record, schemas, channels)
        writer.finish()
    os.replace(partial, path)
    return path, len(found.column("time"))


def _copy(writer: Any, record: Any, schemas: dict[int, int], channels: dict[int, int]) -> None:
    """Write a record; its numbers of schemas and channels become those of the new file."""
    kind = type(record).__name__
    if kind == "Schema" and record.id not in schemas:
        schemas[record.id] = writer.register_schema(record.name, record.encoding, record.data)
    elif kind == "Channel" and record.id not in channels:
        channels[record.id] = writer.register_channel(
            record.topic, record.message_encoding, schemas[record.schema_id], dict(record.metadata)
        )
    elif kind == "Message":
        channel = channels[record.channel_id]
        writer.add_message(channel, record.log_time, record.data, record.publish_time, record.sequence)
    elif kind == "Metadata":
        writer.add_metadata(record.name, dict(record.metadata))
    elif kind == "Attachment":
        writer.add_attachment(record.create_time, record.log_time, record.name, record.media_type, record.data)
