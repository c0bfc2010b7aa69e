"""Joining of MCAP files of several processes: their messages, row by row, in the order of one process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from pippin.extras import import_library

from .file import METADATA, records
from .messages import message_type

_OF_WORLD = re.compile(r"/world_(\d+)(/.*)")
"""A topic of one world; the others have all worlds in one message."""


@attrs.frozen(kw_only=True, eq=False)
class _Message:
    schema: Any
    channel: Any
    record: Any


Row: TypeAlias = Mapping[str, _Message]
"""The messages of one time, by topic."""


def join(files: Any, path: Path, compression: str | None) -> None:
    """Write one file of the rows that all files have, which are as `Recorder.join` gets them."""
    writers: Any = import_library("mcap.writer", "mcap")
    kinds = writers.CompressionType
    kind = {"zstd": kinds.ZSTD, "lz4": kinds.LZ4, None: kinds.NONE}[compression]
    header = files.header
    with path.open("wb") as file:
        writer = writers.Writer(file, compression=kind)
        writer.start()
        writer.add_metadata(METADATA, {"header": header.to_json(), **header.versions})
        writer.add_attachment(0, 0, "config.toml", "application/toml", header.config.encode())
        channels: dict[str, int] = {}
        rows = zip(*map(_rows, files.paths), strict=False)
        for message, data in chain.from_iterable(_in_order(each, files) for each in rows):
            _write(writer, channels, message, data)
        writer.finish()


def _rows(path: Path) -> Iterator[Row]:
    """Yield the messages of each time in a file."""
    for _, messages in groupby(_messages(path), key=lambda message: message.record.log_time):
        yield {message.channel.topic: message for message in messages}


def _messages(path: Path) -> Iterator[_Message]:
    schemas: dict[int, Any] = {}
    channels: dict[int, Any] = {}
    for record in records(path):
        match type(record).__name__:
            case "Schema":
                schemas[record.id] = record
            case "Channel":
                channels[record.id] = record
            case "Message":
                channel = channels[record.channel_id]
                yield _Message(schema=schemas[channel.schema_id], channel=channel, record=record)


def _in_order(rows: Sequence[Row], files: Any) -> Iterator[tuple[_Message, bytes]]:
    """Yield the messages of a row with their data, by kind as in the first file, then by world."""
    found = {topic: message for row in reversed(rows) for topic, message in row.items()}
    for kind, is_of_world in dict.fromkeys(map(_kind, rows[0])):
        if is_of_world:
            for world in files.header.worlds:
                message = found[f"/world_{world}{kind}"]
                yield message, message.record.data
        else:
            yield found[kind], _of_all_worlds([row[kind] for row in rows], files)


def _kind(topic: str) -> tuple[str, bool]:
    """Return the end of a topic of one world, and True; or a topic of all worlds, and False."""
    of_world = _OF_WORLD.fullmatch(topic)
    return (topic, False) if of_world is None else (of_world[2], True)


def _of_all_worlds(messages: Sequence[_Message], files: Any) -> bytes:
    """Return one message with the entries of all worlds: first those that all messages have, such as the ground."""
    schema = messages[0].schema
    kind = message_type(schema.name, schema.data)
    decoded = [kind.FromString(message.record.data) for message in messages]
    ((field, _),) = decoded[0].ListFields()  # all entries are in one field
    entries = [[entry.SerializeToString() for entry in getattr(each, field.name)] for each in decoded]
    common = set(entries[0]).intersection(*entries[1:])
    chosen = [entry for entry in entries[0] if entry in common]
    of_world: dict[int, list[bytes]] = {}
    for own, header in zip(entries, files.headers, strict=True):
        rest = [entry for entry in own if entry not in common]
        size = len(rest) // len(header.worlds)
        for index, world in enumerate(header.worlds):
            of_world[world] = rest[index * size : (index + 1) * size]
    chosen += [entry for world in files.header.worlds for entry in of_world[world]]
    whole = kind()
    for entry in chosen:
        getattr(whole, field.name).add().ParseFromString(entry)
    return whole.SerializeToString()


def _write(writer: Any, channels: dict[str, int], message: _Message, data: bytes) -> None:
    """Write a message; its topic and its schema are written before the first one of it."""
    schema, channel, record = message.schema, message.channel, message.record
    if channel.topic not in channels:
        of_schema = writer.register_schema(schema.name, schema.encoding, schema.data)
        channels[channel.topic] = writer.register_channel(
            channel.topic, channel.message_encoding, of_schema, dict(channel.metadata)
        )
    writer.add_message(channels[channel.topic], record.log_time, data, record.publish_time, record.sequence)
