"""Joining of MCAP files of several processes: their messages, row by row, in the order of one process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from pippin.extras import import_library

from .mcap_records import METADATA, records
from .messages import entries_of
from .parts import Parts

__all__ = ["join"]

_OF_WORLD = re.compile(r"/world_(\d+)(/.*)")
"""A topic of one world; the others have all worlds in one message."""


@attrs.frozen(kw_only=True, eq=False)
class _Message:
    schema: Any
    channel: Any
    record: Any


Row: TypeAlias = Mapping[str, _Message]
"""The messages of one time, by topic."""


def join(parts: Parts, path: Path, compression: str | None) -> None:
    """Write one file of the rows that all files have.

    Args:
        parts: The files.
        path: The new file.
        compression: Compression of its chunks: "zstd", "lz4" or None.
    """
    writers: Any = import_library("mcap.writer", "mcap")
    kinds = writers.CompressionType
    kind = {"zstd": kinds.ZSTD, "lz4": kinds.LZ4, None: kinds.NONE}[compression]
    header = parts.header
    with path.open("wb") as file:
        writer = writers.Writer(file, compression=kind)
        writer.start()
        writer.add_metadata(METADATA, {"header": header.to_json(), **header.versions})
        writer.add_attachment(0, 0, "config.toml", "application/toml", header.config.encode())
        channels: dict[str, int] = {}
        for rows in zip(*map(_rows, parts.paths), strict=False):
            for message, data in _in_order(rows, parts):
                _write(writer, channels, message, data)
        writer.finish()


def _rows(path: Path) -> Iterator[Row]:
    """Yield the messages of each time in a file."""
    schemas: dict[int, Any] = {}
    channels: dict[int, Any] = {}
    row: dict[str, _Message] = {}
    time: int | None = None
    for record in records(path):
        kind = type(record).__name__
        if kind == "Schema":
            schemas[record.id] = record
        elif kind == "Channel":
            channels[record.id] = record
        elif kind == "Message":
            if row and record.log_time != time:
                yield row
                row = {}
            time, channel = record.log_time, channels[record.channel_id]
            row[channel.topic] = _Message(schema=schemas[channel.schema_id], channel=channel, record=record)
    if row:
        yield row


def _in_order(rows: Sequence[Row], parts: Parts) -> Iterator[tuple[_Message, bytes]]:
    """Yield the messages of a row with their data, by kind as in the first file, then by world."""
    found = {topic: message for row in reversed(rows) for topic, message in row.items()}
    for kind, is_of_world in dict.fromkeys(map(_kind, rows[0])):
        if is_of_world:
            for world in parts.header.worlds:
                message = found[f"/world_{world}{kind}"]
                yield message, message.record.data
        else:
            yield found[kind], _of_all_worlds([row[kind].record.data for row in rows], parts)


def _kind(topic: str) -> tuple[str, bool]:
    """Return the end of a topic of one world, and True; or a topic of all worlds, and False."""
    of_world = _OF_WORLD.fullmatch(topic)
    return (topic, False) if of_world is None else (of_world[2], True)


def _of_all_worlds(messages: Sequence[bytes], parts: Parts) -> bytes:
    """Return one message with the entries of all worlds: first those that all messages have, such as the ground."""
    entries = [entries_of(message) for message in messages]
    held = set(entries[0]).intersection(*entries[1:])
    shared = [entry for entry in entries[0] if entry in held]
    of_world: dict[int, list[bytes]] = {}
    for own, header in zip(entries, parts.headers, strict=True):
        rest = [entry for entry in own if entry not in held]
        size = len(rest) // len(header.worlds)
        for place, world in enumerate(header.worlds):
            of_world[world] = rest[place * size : (place + 1) * size]
    return b"".join([*shared, *(entry for world in parts.header.worlds for entry in of_world[world])])


def _write(writer: Any, channels: dict[str, int], message: _Message, data: bytes) -> None:
    """Write a message; its topic and its schema are written before the first one of it."""
    schema, channel, record = message.schema, message.channel, message.record
    if channel.topic not in channels:
        of_schema = writer.register_schema(schema.name, schema.encoding, schema.data)
        channels[channel.topic] = writer.register_channel(
            channel.topic, channel.message_encoding, of_schema, dict(channel.metadata)
        )
    writer.add_message(channels[channel.topic], record.log_time, data, record.publish_time, record.sequence)
