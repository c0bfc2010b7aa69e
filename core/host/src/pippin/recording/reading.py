"""Recordings read back, in any format: the files of several processes as one, and repaired if they were cut off."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import attrs
import numpy as np
from pippin.catalog import Catalog, Entry
from pippin.closing import Closing
from pippin.errors import ConfigError, PippinError
from pippin.spelling import did_you_mean

from .files import refuse_locked
from .header import Header
from .series import Column, Series

_BLOCK = 4_000_000
"""Bytes that are read at once."""


class RecordingFile(Protocol):
    """A file of a recorder that is open for reading: a class that a configuration of the group `pippin.readers` names.

    The entry point has the suffix of the files as its name, without the point. `Recording` and `pippin.Run` open such
    files by it, and with them `pippin view`, the report of a run and `pippin fit`.

    Args:
        path: The file, also one that a killed process left: its whole rows are read.

    Raises:
        ConfigError: The file is damaged, or no recorder wrote it. Other exceptions become one.
    """

    header: Header
    """Everything besides the values, from `Header.from_json`."""

    def __init__(self, path: Path) -> None: ...

    def column(self, name: str) -> Any:
        """Return the values of a channel or `time` [s]: an array of shape [rows, worlds, …], of `time` [rows].

        What reads slices only when it is asked for them may be returned in its place; it has `shape` and `dtype`.

        Args:
            name: A name of `header.columns`, or `time`.
        """

    # A reader may have `repair(path)`, static: it completes a file that was cut off, and returns it and its rows.

    def close(self) -> None:
        """Close the file."""


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


class Recording(Closing, Mapping[str, Series]):
    """A file of a recorder: a series for each recorded channel, by name.

    Args:
        path: The file, also one that a killed process left.
        *others: The files of the other worlds, if several processes recorded the run: the rows that all have are read.

    Raises:
        ConfigError: A file does not exist, is damaged, or no recorder wrote it; or the files do not belong together.
        PluginError: The library of the format is not installed.
    """

    def __init__(self, path: str | os.PathLike[str], *others: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        #: For the core: The files as one; None for one file.
        self.partial_files: PartialFiles | None = None
        if others:
            self.partial_files = PartialFiles({Path(each): open_recording(Path(each)) for each in (path, *others)})
        self._file: Any = self.partial_files or open_recording(self.path)
        #: Everything besides the values: worlds, channels, times of the steps, configuration and versions.
        self.header: Header = self._file.header
        self._columns = {column.name: column for column in self.header.columns}

    @property
    def label(self) -> str:
        """Label of the recorder."""
        return self.header.label

    @property
    def worlds(self) -> tuple[int, ...]:
        """Indices of the recorded worlds, in the order of the second axis."""
        return self.header.worlds

    @property
    def time(self) -> np.ndarray:
        """Simulated time of each row [s], shape [rows]."""
        return np.asarray(self._values("time")[:])

    def __getitem__(self, name: str) -> Series:
        if name == "time":
            return Series(values=self.time, units=("s",))
        if name not in self._columns:
            hint = did_you_mean(name, self._columns) or ";"
            raise ConfigError(f"{self.path}: no channel {name!r}{hint} channels: {', '.join(self._columns)}")
        column = self._columns[name]
        return Series(
            values=self._values(name),
            labels=column.labels,
            units=column.units,
            frame=column.frame,
            components=column.components,
        )

    def _values(self, name: str) -> Any:
        try:
            return self._file.column(name)
        except PippinError:
            raise
        except Exception as error:  # decoders raise errors of any class about what is damaged or forged
            raise ConfigError(Header.fault(self.path, f"{name!r}: {error}")) from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def readable_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the recordings that can be read: those of the installed readers."""
    return tuple(f".{name}" for name in Catalog.installed().names("reader"))


def is_readable(path: Path) -> bool:
    """Return whether recordings with the suffix of a path can be read."""
    return path.suffix in readable_suffixes()


def open_recording(path: Path) -> RecordingFile:
    """Return a file of a recorder, open for reading."""
    entry = _reader_of(path)
    reader: type[RecordingFile] = entry.load()
    try:
        return reader(path)
    except PippinError:
        raise
    except Exception as error:  # of any class, as above
        raise ConfigError(Header.fault(path, f"{entry} raised {type(error).__name__}: {error}")) from error


def recover(path: Path) -> tuple[Path, int]:
    """Complete a recording; return its file, and the number of its rows. A complete recording stays as it is.

    Args:
        path: The file that was left; `NAME.npz` also stands for the rows in `NAME.npz.rows`.

    Raises:
        ConfigError: The file does not exist, its beginning is damaged, or a process still writes it.
        PluginError: The library of the format is not installed.
    """
    rows = path.with_name(f"{path.name}.rows")  # beside a file that is made at the end
    path = rows if rows.is_file() else path
    repair = getattr(_reader_of(path).load(), "repair", None)
    if repair is None:
        return path, len(open_recording(path).column("time"))
    refuse_locked(path)
    return repair(path)


def _reader_of(path: Path) -> Entry:
    if not is_readable(path) or not path.is_file():
        raise ConfigError(f"{path}: not a recording; name a file that ends with {', '.join(readable_suffixes())}")
    return Catalog.installed().find("reader", path.suffix[1:])
