"""Messages: the values of one world in a row, as protobuf with a schema of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from pippin.extras import import_library
from pippin.recording import Column

_TIMESTAMP, _TIME, _FIRST = 1, 2, 3
"""Numbers of the fields: the timestamp, the same time as a number [s], and the first of the values."""

_VARINT, _FIXED64, _BYTES = 0, 1, 2
"""Wire types of protobuf."""

_TIME_COLUMN = Column(name="time", shape=(1,), dtype=np.dtype("<f8"), units=("s",))

_TYPES = {"f4": "TYPE_FLOAT", "f8": "TYPE_DOUBLE", "i4": "TYPE_SFIXED32", "i8": "TYPE_SFIXED64"}
_TYPES |= {"u4": "TYPE_FIXED32", "u8": "TYPE_FIXED64"}
"""Types of protobuf with the bytes of a NumPy type; other types are stored as `i4` or `f4`."""


@attrs.frozen(kw_only=True, eq=False, slots=False)
class Topic:
    """The columns that share a message: of a sensor, an actuator or the state."""

    name: str
    """End of the topics' names, such as `sensors/torso`; in front of it is the world."""

    columns: tuple[Column, ...]

    @property
    def schema_name(self) -> str:
        """Name of the message, such as `pippin.SensorsTorso`."""
        return "pippin." + "".join(word[:1].upper() + word[1:] for word in re.split(r"\W|_", self.name))

    def of_world(self, world: int) -> str:
        """Return the topic of a world."""
        return f"/world_{world}/{self.name}"

    def schema(self) -> bytes:
        """Return the protobuf `FileDescriptorSet` of the message."""
        descriptor: Any = import_library("google.protobuf.descriptor_pb2", "mcap")
        timestamp: Any = import_library("google.protobuf.timestamp_pb2", "mcap")
        files = descriptor.FileDescriptorSet()
        timestamp.DESCRIPTOR.CopyToProto(files.file.add())
        kind = descriptor.FieldDescriptorProto
        package, _, name = self.schema_name.partition(".")
        file = files.file.add(name=f"{self.schema_name}.proto", package=package, syntax="proto3")
        file.dependency.append("google/protobuf/timestamp.proto")
        message = file.message_type.add(name=name)
        one, many = kind.LABEL_OPTIONAL, kind.LABEL_REPEATED
        message.field.add(
            name="timestamp",
            number=_TIMESTAMP,
            type=kind.TYPE_MESSAGE,
            type_name=".google.protobuf.Timestamp",
            label=one,
        )
        message.field.add(name="time", number=_TIME, type=kind.TYPE_DOUBLE, label=one)
        for number, (field, column) in enumerate(self._fields(), _FIRST):
            message.field.add(name=field, number=number, type=getattr(kind, _TYPES[_stored(column.dtype)]), label=many)
        return files.SerializeToString()

    def metadata(self) -> dict[str, str]:
        """Return units, labels, frames and shapes of the fields, as texts by `unit:FIELD` and so on."""
        texts = {}
        for field, column in self._fields():
            texts |= {
                f"unit:{field}": ", ".join(column.units),
                f"labels:{field}": json.dumps(column.labels, ensure_ascii=False),
                f"frame:{field}": column.frame,
                f"shape:{field}": json.dumps(column.shape[1:]),
            }
        return texts

    def decoded(self, payloads: Sequence[bytes], name: str) -> np.ndarray:
        """Return the values of a column, or `time` [s], in some messages: shape [messages, …]."""
        fields = {column.name: (field, column) for field, column in self._fields()}
        field, column = fields.get(name, ("time", _TIME_COLUMN))
        values = np.zeros((len(payloads), *column.shape[1:]), dtype=column.dtype)
        for row, payload in enumerate(payloads):
            message = self._type.FromString(payload)
            values[row] = np.reshape(getattr(message, field), values.shape[1:])
        return values

    @cached_property
    def _type(self) -> Any:
        return message_type(self.schema_name, self.schema())

    def _fields(self) -> Iterator[tuple[str, Column]]:
        for column in self.columns:
            yield re.sub(r"\W", "_", column.name.rpartition("/")[2]), column


def topics_of(columns: Sequence[Column]) -> tuple[Topic, ...]:
    """Return the topics of a world: the columns with the same path share one; `state` has those without a path."""
    groups: dict[str, list[Column]] = {}
    for column in columns:
        groups.setdefault(column.name.rpartition("/")[0] or "state", []).append(column)
    return tuple(Topic(name=name, columns=tuple(group)) for name, group in groups.items())


def message_type(name: str, schema: bytes) -> Any:
    """Return the class of a message of protobuf.

    Args:
        name: The full name of the message, such as `foxglove.JointStates`.
        schema: Its `FileDescriptorSet`, as a file states it.

    Raises:
        PluginError: The library `protobuf` is not installed.
    """
    descriptor: Any = import_library("google.protobuf.descriptor_pb2", "mcap")
    pools: Any = import_library("google.protobuf.descriptor_pool", "mcap")
    factory: Any = import_library("google.protobuf.message_factory", "mcap")
    pool = pools.DescriptorPool()
    for file in descriptor.FileDescriptorSet.FromString(schema).file:
        pool.Add(file)
    return factory.GetMessageClass(pool.FindMessageTypeByName(name))


class MessageEncoder:
    """Makes the messages of rows; all messages of a world have the same length but for the time."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._parts = []
        for number, column in enumerate(columns, _FIRST):
            dtype = np.dtype(f"<{_stored(column.dtype)}")
            size = dtype.itemsize * int(np.prod(column.shape[1:], dtype=np.int64))
            self._parts.append((column.name, dtype, _tag(number, _BYTES) + _varint(size)))

    def messages(self, row: np.void, time: bytes) -> Iterator[bytes]:
        """Yield the message of each world in a row; `time` is `encoded_time` of the row."""
        columns = [(head, row[name].astype(dtype, copy=False)) for name, dtype, head in self._parts]
        for world in range(len(columns[0][1])):
            yield b"".join([time, *(part for head, values in columns for part in (head, values[world].tobytes()))])


def encoded_time(seconds: float, nanoseconds: int) -> bytes:
    """Return the fields of a message that tell its time, as the number [s] and as the timestamp [ns]."""
    whole, rest = divmod(nanoseconds, 1_000_000_000)
    stamp = _tag(1, _VARINT) + _varint(whole) + _tag(2, _VARINT) + _varint(rest)
    number = _tag(_TIME, _FIXED64) + np.float64(seconds).tobytes()
    return _tag(_TIMESTAMP, _BYTES) + _varint(len(stamp)) + stamp + number


def _stored(dtype: np.dtype[Any]) -> str:
    name = f"{dtype.kind}{dtype.itemsize}"
    return name if name in _TYPES else "f4" if dtype.kind == "f" else "i4"


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
