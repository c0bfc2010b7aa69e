"""Partial files of a recording: the files of several processes, each with some of the worlds, read as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.errors import ConfigError

from .column import Column
from .header import Header
from .recording_file import RecordingFile

_BLOCK = 4_000_000
"""Bytes that are read at once."""


class PartialFiles:
    """Files of one recording, read as one file: with the rows that all of them have, and their worlds in its order.

    Raises:
        ConfigError: The files do not belong together.
    """

    def __init__(self, readers: dict[Path, RecordingFile]) -> None:
        self._readers = tuple(readers.values())
        #: The files.
        self.paths: tuple[Path, ...] = tuple(readers)
        #: Their headers.
        self.headers: tuple[Header, ...] = tuple(reader.header for reader in self._readers)
        _refuse_unrelated(self.paths, self.headers)
        first, found = self.headers[0], list(chain.from_iterable(each.worlds for each in self.headers))
        whole = first.whole or first.worlds
        worlds = tuple(world for world in whole if world in found)
        self._order = np.array([found.index(world) for world in worlds])
        #: The header of all worlds that are there.
        self.header: Header = attrs.evolve(
            first,
            worlds=worlds,
            whole=None if worlds == whole else whole,
            columns=tuple(_with_worlds(column, len(worlds)) for column in first.columns),
        )

    @cached_property
    def count(self) -> int:
        """Number of rows that all files have."""
        return min(reader.column("time").shape[0] for reader in self._readers)

    def column(self, name: str) -> Any:
        """Return the values of the column called `name`, read by slices."""
        if name == "time":
            return self._readers[0].column(name)[: self.count]
        return _MergedColumn([reader.column(name) for reader in self._readers], self._order, self.count)

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield all rows, some at a time, as structured arrays of `header.row_type`, shape [rows]."""
        names = [column.name for column in self.header.columns]
        columns = {name: self.column(name) for name in ("time", *names)}
        for chosen in self._slices():
            rows = np.empty(chosen.stop - chosen.start, dtype=self.header.row_type)
            for name, values in columns.items():
                rows[name] = values[chosen]
            yield rows

    def blocks_of(self, name: str) -> Iterator[np.ndarray]:
        """Yield the values of the column called `name` in all rows, some rows at a time: shape [rows, worlds, …]."""
        values = self.column(name)
        return (values[chosen] for chosen in self._slices())

    def _slices(self) -> Iterator[slice]:
        size = max(1, _BLOCK // self.header.row_type.itemsize)
        return (slice(start, min(start + size, self.count)) for start in range(0, self.count, size))

    def close(self) -> None:
        """Close the files."""
        for reader in self._readers:
            reader.close()


class _MergedColumn:
    """A column of all worlds; a slice reads no other rows."""

    def __init__(self, columns: Sequence[Any], order: np.ndarray, count: int) -> None:
        self._columns, self._order, self._count = columns, order, count
        self.shape = (count, len(order), *columns[0].shape[2:])
        self.dtype = columns[0].dtype

    def __getitem__(self, key: Any) -> Any:
        first, *rest = key if isinstance(key, tuple) else (key,)
        if first is Ellipsis:
            first, rest = slice(None), [Ellipsis, *rest]
        if isinstance(first, slice):
            chosen = range(self._count)[first]
            rows = self._rows(slice(min(chosen), max(chosen) + 1, abs(chosen.step)) if chosen else slice(0, 0))
            return (rows if chosen.step > 0 else rows[::-1])[(slice(None), *rest)]
        indices = np.arange(self._count)[first]  # an index is counted from the last common row
        if indices.ndim:
            return self._rows(indices)[(slice(None), *rest)]
        return self._rows(slice(int(indices), int(indices) + 1))[(0, *rest)]

    def _rows(self, chosen: slice | np.ndarray) -> np.ndarray:
        return np.concatenate([column[chosen] for column in self._columns], axis=1)[:, self._order]


def _refuse_unrelated(paths: Sequence[Path], headers: Sequence[Header]) -> None:
    """Refuse files that are not of one recording."""
    seen: dict[int, Path] = {}
    for path, header in zip(paths, headers, strict=True):
        alike = ("label", "whole", "config", "period")
        unlike = next((name for name in alike if getattr(header, name) != getattr(headers[0], name)), "")
        if not unlike and _contents(header) != _contents(headers[0]):
            unlike = "columns"
        if unlike:
            raise ConfigError(
                f"{path}: not of the same recording as '{paths[0]}', as the {unlike} of their headers differ;"
                " open each as a pippin.recording.Recording"
            )
        for world in header.worlds:
            if world in seen:
                raise ConfigError(
                    f"{path}: has world {world}, and so has '{seen[world]}'; move one of them, or open each as a"
                    " pippin.recording.Recording"
                )
            seen[world] = path


def _contents(header: Header) -> list[dict[str, Any]]:
    return [_with_worlds(column, 0).plain() for column in header.columns]


def _with_worlds(column: Column, count: int) -> Column:
    return attrs.evolve(column, shape=(count, *column.shape[1:]))
