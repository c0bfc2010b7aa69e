"""HDF5 files of recordings, read back and repaired."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from pippin import ConfigError
from pippin.extras import import_library
from pippin.recording import Header

HEADER = "header"
"""Name of the dataset with the header's text."""

CHECKSUMS = "checksums"
"""Name of the dataset with the CRC-32 of each row of each column, and of its time: those of HDF5 guard no indices."""


class Hdf5File:
    """A file of the recorder `hdf5`, also one that is cut off; slices are read when they are asked for.

    Raises:
        ConfigError: The file is damaged, or no recorder wrote it.
        PluginError: h5py is not installed.
    """

    def __init__(self, path: Path) -> None:
        h5py: Any = import_library("h5py", "hdf5")
        try:
            self._file = h5py.File(path, "r", locking=False)
            text = self._file[HEADER]
            if text.shape != () or text.dtype.kind != "S":  # HDF5 may never return from a damaged text of any length
                raise ValueError(f"its header is of type {text.dtype} and shape {text.shape}")
            if zlib.crc32(text[()]) != text.attrs["crc32"]:
                raise ValueError("its header is damaged")
            self.header = Header.from_json(text[()], str(path))
            self._count = len(self._file["time"])
            self._checksums = self._file[CHECKSUMS]
            self._order = [*(column.name for column in self.header.columns), "time"]
        except (OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise ConfigError(Header.fault(path, error)) from error

    def column(self, name: str) -> Any:
        """Return the whole rows of a column, read by slices."""
        return _WholeRows(self._file[name], self._count, self._checksums, self._order.index(name))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @staticmethod
    def repair(path: Path) -> tuple[Path, int]:
        """Cut all datasets of a file to their whole rows; return the file, and the number of its rows."""
        h5py: Any = import_library("h5py", "hdf5")
        found = Hdf5File(path)
        names = [column.name for column in found.header.columns]
        found.close()
        with h5py.File(path, "r+", locking=False) as file:
            count = len(file["time"])
            for name in (*names, CHECKSUMS):
                file[name].resize(count, axis=0)
        return path, count


class _WholeRows:
    """The first rows of a dataset: those that were written completely."""

    def __init__(self, dataset: Any, count: int, crcs: Any, column: int) -> None:
        self._dataset, self._count, self._crcs, self._column = dataset, count, crcs, column
        self.shape = (count, *dataset.shape[1:])
        self.dtype = dataset.dtype

    def __getitem__(self, key: Any) -> Any:
        first, *rest = key if isinstance(key, tuple) else (key,)
        if first is Ellipsis:
            first, rest = slice(None), [Ellipsis, *rest]
        rows = self._within(first)
        try:
            found, crcs = self._dataset[rows], self._crcs[rows, self._column]
            each = found if np.ndim(crcs) else found[None]
            if (Header.checksums(each) != crcs).any():
                raise ConfigError(Header.damage(self._dataset.file.filename, f"rows of {self._dataset.name}"))
            return found[(slice(None), *rest)] if np.ndim(crcs) else found[tuple(rest)]
        except (OSError, RuntimeError, MemoryError) as error:
            raise ConfigError(Header.fault(self._dataset.file.filename, error)) from error

    def _within(self, rows: Any) -> Any:
        """Return the choice of rows, counted from the start: a negative index is counted from the last whole row."""
        if isinstance(rows, slice):
            return slice(*rows.indices(self._count))
        if not isinstance(rows, int | np.integer):
            return rows
        if not -self._count <= rows < self._count:
            raise IndexError(f"row {rows} of {self._count} rows")
        return rows % self._count
