"""The recorder `npz`: rows go into a file of their own, so that a kill loses none, and at the end into an npz file."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from pippin import ConfigError
from pippin.recording import Column, Header, Recorder

_MARGIN = 1_000_000
"""Free bytes beside the size of the npz file that its assembly needs."""


_MAGIC = b"PIPPINROWS2\n"

_LENGTH = struct.Struct("<QI")
"""Size and CRC-32 of the header's text."""

_ALIGNMENT, _CRC_SIZE = 64, 4

_BLOCK = 4_000_000
"""Bytes that are read at once."""

HEADER = "header"
"""Name of the array with the header's text."""

TIME = Column(name="time", shape=(), dtype=np.dtype("<f8"))
"""The simulated time of each row [s]."""

_LOCAL_HEADER_SIZE = 30


class NpzRecorder(Recorder):
    """The default recorder: an npz file, read by `numpy.load` and `pippin.Run`.

    The array of a channel has the channel's name; `labels/NAME` and `units/NAME` have its names and units. Until the
    end, the rows are in `PATH.rows`, which `pippin.Run` reads and `pippin recover` turns into an npz file. At the
    end the disk needs room for the rows twice; without it, the file of rows stays.
    """

    suffix = ".npz"

    @property
    def growing_path(self) -> Path:
        """The file of rows."""
        return spool_of(self.path)

    def open(self, path: Path, header: Header) -> None:
        """Begin the file of rows."""
        self._rows_file = SpoolWriter(spool_of(path), header)

    def write(self, rows: np.ndarray) -> None:
        """Append rows to the file of rows."""
        self._rows_file.write(rows)

    def finish(self) -> None:
        """Assemble the npz file, and remove the file of rows; it stays if there is no room for both."""
        self._rows_file.close()
        spool = spool_of(self.path)
        if self.free_bytes(self.path) < spool.stat().st_size + _MARGIN:
            self.notes.append(
                f"the rows are in '{spool}', as there is no room for '{self.path.name}'; pippin.Run reads them,"
                " and `pippin recover` writes the npz file"
            )
            return
        assemble(Spool(spool), self.path)
        spool.unlink()

    def join(self, files: Any, path: Path) -> None:
        """Assemble the npz file from the files of several processes."""
        assemble(files, path)


class SpoolWriter:
    """Appends rows to a new file; one that is there is replaced."""

    def __init__(self, path: Path, header: Header) -> None:
        text = header.to_json().encode()
        start = len(_MAGIC) + _LENGTH.size + len(text)
        self._file: BinaryIO = path.open("wb", buffering=0)
        self._write(_MAGIC + _LENGTH.pack(len(text), zlib.crc32(text)) + text + b" " * (-start % _ALIGNMENT))

    def write(self, rows: np.ndarray) -> None:
        """Append rows; all of them are in the file when this returns."""
        checked = np.zeros(len(rows), dtype=_checked(rows.dtype))
        checked["row"] = rows
        checked["crc"] = _checksums(checked)
        self._write(checked.view(np.uint8).data)

    def _write(self, data: Any) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _checked(row_type: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype([("row", row_type), ("crc", "<u4")])


def _checksums(checked: np.ndarray) -> np.ndarray:
    """Return the CRC-32 of each row as it is in the file, with the gaps between its fields."""
    return Header.checksums(checked.view(np.uint8).reshape(len(checked), checked.itemsize)[:, :-_CRC_SIZE])


class Spool:
    """The rows of a file that `SpoolWriter` wrote, also of one that is still being written or was cut off.

    Raises:
        ConfigError: The file is not a spool, or its header is cut off; or, where rows are read, one is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            size = file.read(len(_MAGIC) + _LENGTH.size)
            if not size.startswith(_MAGIC) or len(size) < len(_MAGIC) + _LENGTH.size:
                raise ConfigError(f"{path}: not rows of a recording; name a file that a recorder wrote")
            length, crc = _LENGTH.unpack(size[len(_MAGIC) :])
            text = file.read(min(length, path.stat().st_size))
        if zlib.crc32(text) != crc:
            raise ConfigError(Header.fault(path, "its header is damaged"))
        self.header = Header.from_json(text, str(path))
        start = len(size) + length
        self._start = start + -start % _ALIGNMENT
        self._type = _checked(self.header.row_type)
        #: Number of whole rows.
        self.count: int = max(path.stat().st_size - self._start, 0) // self._type.itemsize

    @property
    def rows(self) -> np.ndarray:
        """All rows, memory-mapped: a structured array of `header.row_type`."""
        if self._sound_count < self.count:
            reason = f"row {self._sound_count} of {self.count} does not have its checksum"
            raise ConfigError(Header.damage(self.path, reason))
        if not self.count:
            return np.zeros(0, dtype=self._type)["row"]
        return np.memmap(self.path, dtype=self._type, mode="r", offset=self._start, shape=(self.count,))["row"]

    @cached_property
    def _sound_count(self) -> int:
        """Number of rows before the first one that is damaged."""
        first = 0
        for rows in self._blocks():
            wrong = np.flatnonzero(_checksums(rows) != rows["crc"])
            if len(wrong):
                return first + int(wrong[0])
            first += len(rows)
        return first

    def column(self, name: str) -> np.ndarray:
        """Return the values of a column, memory-mapped."""
        return self.rows[name]

    def close(self) -> None:
        """Do nothing: the arrays keep their memory."""

    def blocks_of(self, name: str) -> Iterator[np.ndarray]:
        """Yield the values of a column in all rows, some rows at a time."""
        self.rows  # noqa: B018  refuses damage
        return (rows["row"][name] for rows in self._blocks())

    def _blocks(self) -> Iterator[np.ndarray]:
        """Yield all rows with their checksums, some at a time; the memory is used again for the next ones."""
        buffer = np.empty(max(1, _BLOCK // self._type.itemsize), dtype=self._type)
        left = self.count
        with self.path.open("rb") as file:
            file.seek(self._start)
            while left:
                rows = buffer[:left]
                file.readinto(rows.view(np.uint8).data)
                left -= len(rows)
                yield rows

    @staticmethod
    def repair(path: Path) -> tuple[Path, int]:
        """Turn the rows that a killed recorder left into an npz file; return it, and the number of its rows."""
        spool, target = Spool(path), path.with_suffix("")
        spool.count = spool._sound_count
        assemble(spool, target)
        path.unlink()
        return target, spool.count


def spool_of(path: Path) -> Path:
    """Return the file in which the rows of an npz file are kept until its end."""
    return path.with_name(f"{path.name}.rows")


def assemble(spool: Any, path: Path) -> None:
    """Write an npz file of the rows of a `Spool` or of `PartialFiles`; an existing file is replaced at the end."""
    partial = path.with_name(f"{path.name}.part")
    try:
        _write(spool, partial)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _write(spool: Any, path: Path) -> None:
    header = spool.header
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        _write_column(archive, "time", spool, np.dtype("<f8"), ())
        for column in header.columns:
            _write_column(archive, column.name, spool, column.dtype, column.shape)
        for name, texts in _texts(header):
            buffer = BytesIO()
            np.lib.format.write_array(buffer, np.array(texts), allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def _texts(header: Header) -> Iterator[tuple[str, Any]]:
    """Yield labels and units by the names of their arrays, and the header."""
    yield "units/time", ["s"]
    for column in header.columns:
        for kind, texts in (("labels", column.labels), ("units", column.units)):
            if texts:
                yield f"{kind}/{column.name}", texts
    yield HEADER, header.to_json()


def _write_column(archive: zipfile.ZipFile, name: str, spool: Any, dtype: np.dtype[Any], shape: Any) -> None:
    description = {"descr": dtype.str, "fortran_order": False, "shape": (spool.count, *shape)}
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, description)
        for values in spool.blocks_of(name):
            member.write(np.ascontiguousarray(values).tobytes())


class NpzFile:
    """A finished npz file of a recorder; its arrays are memory-mapped.

    Raises:
        ConfigError: The file is damaged, or no recorder wrote it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with zipfile.ZipFile(path) as archive:
                self._members = {each.filename: each for each in archive.infolist()}
                with archive.open(f"{HEADER}.npy") as member:
                    text = str(np.lib.format.read_array(member, allow_pickle=False))
        except (zipfile.BadZipFile, KeyError, ValueError) as error:
            raise ConfigError(Header.fault(path, error)) from error
        self.header = Header.from_json(text, str(path))
        self._types = {column.name: column for column in (TIME, *self.header.columns)}
        self._whole: set[str] = set()

    def column(self, name: str) -> np.ndarray:
        """Return the values of a column, shape [rows, worlds, …].

        Raises:
            ValueError: The member is not of the type and the shape that the header states, or is not there as a whole.
        """
        member = self._members[f"{name}.npy"]
        if member.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"{name!r} is packed, which no recorder does")
        with self._path.open("rb") as file:
            file.seek(member.header_offset + _LOCAL_HEADER_SIZE - 4)
            name_size, extra_size = np.frombuffer(file.read(4), dtype="<u2")
            file.seek(int(name_size) + int(extra_size), os.SEEK_CUR)
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            start = file.tell()
        expected = self._types[name]
        if dtype != expected.dtype or shape[1:] != expected.shape:
            raise ValueError(f"{name!r} is of type {dtype} and shape {shape}, and not as its header says")
        if name not in self._whole:
            self._refuse_damage(member)
            self._whole.add(name)
        if not all(shape):
            return np.zeros(shape, dtype=dtype)
        return np.memmap(self._path, dtype=dtype, mode="r", offset=start, shape=shape)

    def _refuse_damage(self, member: zipfile.ZipInfo) -> None:
        """Read a member once, which compares its checksum: a memory map does not."""
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(member) as stream:
                while stream.read(_BLOCK):
                    pass
        except (zipfile.BadZipFile, EOFError) as error:
            raise ConfigError(Header.damage(self._path, error or f"{member.filename} is cut off")) from error

    def close(self) -> None:
        """Do nothing: the arrays keep their memory."""
