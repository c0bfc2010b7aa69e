"""MCAP files of recordings: read back, repaired, and those of several processes joined."""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
from pippin import ConfigError
from pippin.extras import import_library
from pippin.files import refuse_expansion
from pippin.recording import Header

from .messages import Topic, message_type, topics_of

METADATA = "pippin"
"""Name of the metadata with the header's text."""


_END, _MAGIC_SIZE = b"\x89MCAP0\r\n", 8
"""Last bytes of a file that is complete, and the number of the first ones, which are the same."""

_FRAME = struct.Struct("<BQ")
"""Kind and size of a record, before its content."""

_TEXT, _DATA = struct.Struct("<I"), struct.Struct("<Q")
_DATA_END = 15
_OF_TEXTS = (_TEXT, _TEXT)
_LAYOUTS: dict[int, tuple[Any, ...]] = {1: _OF_TEXTS, 6: (28, _TEXT, _DATA), 7: (2, _TEXT), 12: _OF_TEXTS}
_LAYOUTS |= {9: (16, _TEXT, _TEXT, _DATA, 4), _DATA_END: (4,)}
"""What records have before the end of the data, by their kind: numbers of bytes, and sizes of what follows them."""


def records(path: Path, *, emit_chunks: bool = False, is_damage_the_end: bool = False) -> Iterator[Any]:
    """Yield the records of a file until its end, or until it was cut off; chunks as they are packed, or unpacked.

    Raises:
        ConfigError: The file is damaged, and damage is not to be taken for its end.
    """
    reader: Any = import_library("mcap.stream_reader", "mcap")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - len(_END)))
        is_complete, kinds = file.read() == _END, set[str]()
        file.seek(0)
        try:
            for record in reader.StreamReader(file, emit_chunks=emit_chunks, validate_crcs=True).records:
                kinds.add(type(record).__name__)
                yield record
            fault: Any = None if "DataEnd" in kinds else "it does not have the end of its data"
        except Exception as error:  # the reader raises what its decoders raise
            fault = None if not is_complete and _is_cut_off(file, error) else error
    if fault is not None and not is_damage_the_end:
        raise ConfigError(Header.damage(path, fault))


def _is_cut_off(file: Any, error: Exception) -> bool:
    size, place = os.fstat(file.fileno()).st_size, _MAGIC_SIZE
    if file.tell() < size:
        return False
    kind = 0
    while kind != _DATA_END and place + _FRAME.size <= size:  # a kill changes no kind and no size
        file.seek(place)
        kind, length = _FRAME.unpack(file.read(_FRAME.size))
        if kind not in _LAYOUTS or not _fits(file, length, _LAYOUTS[kind]):
            return False
        place += _FRAME.size + length
    return place != size or type(error).__name__ == "EndOfFile"


def _fits(file: Any, length: int, layout: tuple[Any, ...]) -> bool:
    """Return whether a record of some bytes has a layout, as far as the file has it."""
    for part in layout:
        if not isinstance(part, int):
            found, length = file.read(part.size), length - part.size
            if len(found) < part.size:
                return length >= 0
            (part,) = part.unpack(found)
        file.seek(part, os.SEEK_CUR)
        length -= part
    return length == 0


def refuse_large_chunks(path: Path) -> None:
    """Refuse a file whose chunks unpack to more than this machine can hold: a few kilobytes can state gigabytes.

    Args:
        path: The file.

    Raises:
        ValueError: They would take half of its memory.
        PluginError: A library of the format is not installed.
    """
    zstandard: Any = import_library("zstandard", "mcap")
    size = 0
    for record in records(path, emit_chunks=True, is_damage_the_end=True):  # who reads the rows refuses damage
        if type(record).__name__ == "Chunk":
            size += record.uncompressed_size
            with suppress(zstandard.ZstdError):  # of no such frame, which is not unpacked
                size += max(0, zstandard.frame_content_size(record.data) - record.uncompressed_size)
    refuse_expansion(size)


def metadata_of(header: Header) -> dict[str, str]:
    """Return the metadata with the header's text and its checksum: a file without its end has no other one."""
    text = header.to_json()
    return {"header": text, "crc32": _crc(text), **header.versions}


def _crc(text: str) -> str:
    return f"{zlib.crc32(text.encode(errors='replace')):08x}"


class McapFile:
    """A file of the recorder `mcap`, also one that is cut off; its messages are read at first use, and kept in memory.

    Raises:
        ConfigError: The file is damaged, or no recorder wrote it.
        PluginError: The library of the format is not installed.
    """

    def __init__(self, path: Path, *, is_damage_the_end: bool = False) -> None:
        self._path, self._is_damage_the_end = path, is_damage_the_end
        found = (
            each
            for each in records(path, emit_chunks=True, is_damage_the_end=True)
            if type(each).__name__ == "Metadata" and each.name == METADATA
        )
        metadata = next(found, None)
        if metadata is None:
            raise ConfigError(Header.fault(path, "without the recorder's metadata"))
        text = metadata.metadata.get("header", "")
        if metadata.metadata.get("crc32") != _crc(text):
            raise ConfigError(Header.fault(path, "its header is damaged"))
        self.header = Header.from_json(text, str(path))
        self._topics = topics_of(self.header.columns)

    @cached_property
    def _payloads(self) -> dict[str, list[bytes]]:
        try:
            refuse_large_chunks(self._path)
        except ValueError as error:
            raise ConfigError(Header.fault(self._path, error)) from error
        payloads: dict[str, list[bytes]] = {}
        names: dict[int, str] = {}
        for record in records(self._path, is_damage_the_end=self._is_damage_the_end):
            kind = type(record).__name__
            if kind == "Channel":
                names[record.id] = record.topic
            elif kind == "Message":
                payloads.setdefault(names[record.channel_id], []).append(record.data)
        return payloads

    @cached_property
    def _count(self) -> int:
        return min((len(each) for topic in self._topics for each in self._of_worlds(topic)), default=0)

    def column(self, name: str) -> np.ndarray:
        """Return the values of a column, shape [rows, worlds, …]."""
        if name == "time":
            first = next(self._of_worlds(self._topics[0]))
            return self._topics[0].decoded(first[: self._count], name)
        topic = next(each for each in self._topics if any(column.name == name for column in each.columns))
        worlds = [topic.decoded(payloads[: self._count], name) for payloads in self._of_worlds(topic)]
        return np.stack(worlds, axis=1)

    def _of_worlds(self, topic: Topic) -> Iterator[list[bytes]]:
        for world in self.header.worlds:
            yield self._payloads.get(topic.of_world(world), [])

    def close(self) -> None:
        """Do nothing: the messages are in memory."""

    @staticmethod
    def repair(path: Path) -> tuple[Path, int]:
        """Write the records of a file that was cut off or damaged, up to there, into a complete one in its place."""
        writers: Any = import_library("mcap.writer", "mcap")
        found = McapFile(path, is_damage_the_end=True)
        count = len(found.column("time"))  # and refuses what cannot be unpacked
        partial = path.with_name(f"{path.name}.part")
        schemas: dict[int, int] = {0: 0}
        channels: dict[int, int] = {}
        with partial.open("wb") as file:
            writer = writers.Writer(file, enable_data_crcs=True)
            writer.start()
            for record in records(path, is_damage_the_end=True):
                _copy(writer, record, schemas, channels)
            writer.finish()
        os.replace(partial, path)
        return path, count


def _copy(writer: Any, record: Any, schemas: dict[int, int], channels: dict[int, int]) -> None:
    match type(record).__name__:
        case "Schema" if record.id not in schemas:
            schemas[record.id] = writer.register_schema(record.name, record.encoding, record.data)
        case "Channel" if record.id not in channels:
            channels[record.id] = writer.register_channel(
                record.topic, record.message_encoding, schemas[record.schema_id], dict(record.metadata)
            )
        case "Message":
            channel = channels[record.channel_id]
            writer.add_message(channel, record.log_time, record.data, record.publish_time, record.sequence)
        case "Metadata":
            writer.add_metadata(record.name, dict(record.metadata))
        case "Attachment":
            writer.add_attachment(record.create_time, record.log_time, record.name, record.media_type, record.data)


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
        writer = writers.Writer(file, compression=kind, enable_data_crcs=True)
        writer.start()
        writer.add_metadata(METADATA, metadata_of(header))
        writer.add_attachment(0, 0, "config.toml", "application/toml", header.config.encode())
        channels: dict[str, int] = {}
        rows = zip(*map(_rows, files.paths), strict=False)
        for message, data in chain.from_iterable(_in_order(each, files) for each in rows):
            _write(writer, channels, message, data)
        writer.finish()


def _rows(path: Path) -> Iterator[Row]:
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
    schema, channel, record = message.schema, message.channel, message.record
    if channel.topic not in channels:
        of_schema = writer.register_schema(schema.name, schema.encoding, schema.data)
        channels[channel.topic] = writer.register_channel(
            channel.topic, channel.message_encoding, of_schema, dict(channel.metadata)
        )
    writer.add_message(channels[channel.topic], record.log_time, data, record.publish_time, record.sequence)
