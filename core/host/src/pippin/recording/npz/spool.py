"""Spools: files of whole rows, one after the other, behind a header. A file that is cut off loses its last row only."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from pippin import ConfigError
from pippin.recording import Header

_MAGIC = b"PIPPINROWS1\n"
_LENGTH = struct.Struct("<Q")
_ALIGNMENT = 64
_BLOCK = 4_000_000
"""Bytes that are read at once."""


class SpoolWriter:
    """Appends rows to a new file; one that is there is replaced."""

    def __init__(self, path: Path, header: Header) -> None:
        text = header.to_json().encode()
        start = len(_MAGIC) + _LENGTH.size + len(text)
        self._file: BinaryIO = path.open("wb", buffering=0)
        self._write(_MAGIC + _LENGTH.pack(len(text)) + text + b" " * (-start % _ALIGNMENT))

    def write(self, rows: np.ndarray) -> None:
        """Append rows; all of them are in the file when this returns."""
        self._write(rows.view(np.uint8).data if rows.flags.c_contiguous else rows.tobytes())

    def _write(self, data: Any) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Spool:
    """The rows of a file that `SpoolWriter` wrote, also of one that is still being written or was cut off.

    Raises:
        ConfigError: The file is not a spool, or its header is cut off.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            size = file.read(len(_MAGIC) + _LENGTH.size)
            if not size.startswith(_MAGIC) or len(size) < len(_MAGIC) + _LENGTH.size:
                raise ConfigError(f"{path}: not rows of a recording; name a file that a recorder wrote")
            (length,) = _LENGTH.unpack(size[len(_MAGIC) :])
            text = file.read(min(length, path.stat().st_size))
        self.header = Header.from_json(text, str(path))
        start = len(size) + length
        self._start = start + -start % _ALIGNMENT
        self._type = self.header.row_type
        #: Number of whole rows.
        self.count = max(path.stat().st_size - self._start, 0) // self._type.itemsize

    @property
    def rows(self) -> np.ndarray:
        """All rows, memory-mapped: a structured array of `header.row_type`."""
        if not self.count:
            return np.zeros(0, dtype=self._type)
        return np.memmap(self.path, dtype=self._type, mode="r", offset=self._start, shape=(self.count,))

    def column(self, name: str) -> np.ndarray:
        """Return the values of a column, memory-mapped."""
        return self.rows[name]

    def close(self) -> None:
        """Do nothing: the arrays keep their memory."""

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield all rows, some at a time; the memory is used again for the next ones."""
        buffer = np.empty(max(1, _BLOCK // self._type.itemsize), dtype=self._type)
        left = self.count
        with self.path.open("rb") as file:
            file.seek(self._start)
            while left:
                rows = buffer[:left]
                file.readinto(rows.view(np.uint8).data)
                left -= len(rows)
                yield rows

    def blocks_of(self, name: str) -> Iterator[np.ndarray]:
        """Yield the values of a column in all rows, some rows at a time."""
        return (rows[name] for rows in self.blocks())
