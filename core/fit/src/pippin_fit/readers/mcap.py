"""Logs of messages in MCAP files: of ROS 2, and of Foxglove."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError
from pippin.extras import import_library
from pippin_record.mcap import message_type, refuse_large_chunks

from .configs import McapLogConfig

_FOXGLOVE = "foxglove.JointStates"
_STATES = ("sensor_msgs/msg/JointState", _FOXGLOVE)
_COMMANDS = ("trajectory_msgs/msg/JointTrajectory", "std_msgs/msg/Float64MultiArray")
_FIELDS = {"position_targets": "position", "velocity_targets": "velocity", "feedforward": "effort"}
"""The field of a message with states or points that is the command."""


@attrs.frozen(eq=False)
class _Row:
    """The numbers of a message by joint, at a time [ns]."""

    time: int
    values: Mapping[str, float]


@attrs.frozen(eq=False)
class _Topic:
    """The decoded messages of a topic, with the times at which they were received [ns]."""

    kind: str
    messages: list[tuple[int, Any]]


class McapReader:
    """Reads the measurements of one topic and the commands of another one."""

    form = (
        "an MCAP file has a topic of sensor_msgs/JointState or foxglove.JointStates, and one of commands: the same,"
        " trajectory_msgs/JointTrajectory or std_msgs/Float64MultiArray"
    )

    def __init__(self, config: McapLogConfig) -> None:
        self._config = config
        self._library: Any = import_library("mcap.reader", "mcap")

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of the file."""
        topics = self._topics(path)
        measured = self._chosen(path, topics, "measured", _STATES, "states of joints")
        commanded = self._chosen(path, topics, "commanded", _COMMANDS, "commands")
        if measured == commanded:
            raise ConfigError(f"fit.reader.commanded: {measured!r} is what was measured; name what the robot was told")
        states = topics[measured]
        positions = self._rows(states, "position", ())
        if not positions:
            raise ConfigError(f"fit.logs: '{path}': {measured!r} has no positions; name another topic")
        joints = list(positions[0].values)
        commands = self._rows(topics[commanded], _FIELDS[targets], self._config.joints or joints)
        joints = [joint for joint in joints if commands and joint in commands[0].values]
        if not joints:
            raise ConfigError(
                f"fit.logs: '{path}': {commanded!r} has no {_FIELDS[targets]} of a joint of {measured!r}; set"
                " fit.command, or name another topic"
            )
        found = {"joints": joints, "notes": self._lateness(measured, states)}
        if any(row.values.keys() != positions[0].values.keys() for row in positions):
            raise ConfigError(
                f"fit.logs: '{path}': messages of {measured!r} have different joints; log one robot there"
            )
        found |= {"position": _table(positions, joints), "command": _table(commands, joints)}
        velocities = self._rows(states, "velocity", ())
        if len(velocities) == len(positions):
            found["velocity"] = _table(velocities, joints)
        begin = positions[0].time  # before a stamp becomes a number with 53 bits
        found["time"] = np.array([row.time - begin for row in positions]) * 1e-9
        found["command_time"] = np.array([row.time - begin for row in commands]) * 1e-9
        yield found

    def _topics(self, path: Path) -> dict[str, _Topic]:
        found: dict[str, _Topic] = {}
        refuse_large_chunks(path)
        with path.open("rb") as stream:
            decoders: dict[int, Callable[[bytes], Any]] = {}
            try:
                for schema, channel, message in self._library.make_reader(stream).iter_messages():
                    if schema is not None and schema.name in (*_STATES, *_COMMANDS):
                        if schema.id not in decoders:
                            decoders[schema.id] = _decoder(channel.message_encoding, schema)
                        topic = found.setdefault(channel.topic, _Topic(schema.name, []))
                        topic.messages.append((message.log_time, decoders[schema.id](message.data)))
            except (import_library("mcap.exceptions", "mcap").McapError, EOFError) as error:
                raise ValueError(str(error)) from error
        return found

    def _chosen(self, path: Path, topics: Mapping[str, _Topic], key: str, kinds: Sequence[str], what: str) -> str:
        named = getattr(self._config, key)
        listed = ", ".join(f"{name} ({topic.kind})" for name, topic in topics.items()) or "none"
        if named is not None:
            if named not in topics:
                raise ConfigError(
                    f"fit.reader.{key}: '{path}' has no topic {named!r} of a known kind; topics: {listed}"
                )
            return named
        fit = [name for name, topic in topics.items() if topic.kind in kinds]
        if len(fit) != 1:
            count = "several topics" if fit else "no topic"
            raise ConfigError(
                f"fit.logs: '{path}' has {count} with {what}; name one by fit.reader.{key}, topics: {listed}"
            )
        return fit[0]

    def _rows(self, topic: _Topic, field: str, joints: Sequence[str]) -> list[_Row]:
        if topic.kind == _COMMANDS[0]:
            return self._points(topic, field)
        rows = []
        for received, message in topic.messages:
            if topic.kind == _FOXGLOVE:
                own = [joint for joint in message.joints if joint.HasField(field)]
                values = {joint.name: float(getattr(joint, field)) for joint in own}
            elif topic.kind == _COMMANDS[1]:
                values = dict(zip(joints, map(float, message.data), strict=True))
            else:
                numbers = getattr(message, field)
                values = dict(zip(message.name, map(float, numbers), strict=True)) if len(numbers) else {}
            if values:
                rows.append(_Row(self._time(topic, received, message), values))
        return rows

    def _points(self, topic: _Topic, field: str) -> list[_Row]:
        """Return the points of trajectories; a later message replaces the rest of an earlier one."""
        name, rows = {"position": "positions", "velocity": "velocities"}.get(field, field), list[_Row]()
        for received, message in topic.messages:
            begin = self._time(topic, received, message)
            while rows and rows[-1].time >= begin:
                rows.pop()
            for point in message.points:
                values = dict(zip(message.joint_names, map(float, getattr(point, name)), strict=False))
                if values:
                    rows.append(_Row(begin + _nanoseconds(point.time_from_start), values))
        return rows

    def _time(self, topic: _Topic, received: int, message: Any) -> int:
        stamp = _stamp(topic, message) if self._config.stamps == "header" else 0
        return stamp or received

    def _lateness(self, name: str, topic: _Topic) -> list[str]:
        late = [received - _stamp(topic, message) for received, message in topic.messages if _stamp(topic, message)]
        if not late:
            return [f"{name}: the messages have no stamps of their own; their times are those of the file"]
        low, middle, high = np.percentile(np.array(late) * 1e-9, [5, 50, 95])
        return [f"{name}: messages came {middle:.4g} s after their stamps (5 % {low:.4g} s, 95 % {high:.4g} s)"]


def _decoder(encoding: str, schema: Any) -> Callable[[bytes], Any]:
    if encoding == "protobuf":
        return message_type(schema.name, schema.data).FromString
    decoder = import_library("mcap_ros2.decoder", "ros2").DecoderFactory().decoder_for(encoding, schema)
    if decoder is None:
        raise ConfigError(f"fit.logs: messages of {schema.name} in {encoding!r} cannot be read; write them as CDR")
    return decoder


def _stamp(topic: _Topic, message: Any) -> int:
    if topic.kind == _FOXGLOVE:
        return message.timestamp.seconds * 1_000_000_000 + message.timestamp.nanos
    return _nanoseconds(message.header.stamp) if hasattr(message, "header") else 0


def _nanoseconds(time: Any) -> int:
    return time.sec * 1_000_000_000 + time.nanosec


def _table(rows: Sequence[_Row], joints: Sequence[str]) -> np.ndarray:
    """Return numbers of joints, shape [rows, joints]; commands that leave a joint out let it keep its last one."""
    found = np.full((len(rows), len(joints)), np.nan)
    last = dict.fromkeys(joints, np.nan)
    for number, row in enumerate(rows):
        last.update({joint: value for joint, value in row.values.items() if joint in last})
        found[number] = list(last.values())
    return found
