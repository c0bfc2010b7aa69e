"""Recorder `hdf5`: chunked datasets with names and units as attributes, flushed chunk by chunk."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np
from pippin.errors import ConfigError
from pippin.extras import import_library

from .column import Column
from .config import RecorderConfig
from .header import FORMAT, FORMAT_VERSION, Header, not_ours
from .recorder import Recorder

__all__ = ["Hdf5Config", "Hdf5File", "Hdf5Recorder", "mend"]

HEADER = "header"
"""Name of the dataset with the header's text."""

_ATTRIBUTE_ROOM = 60_000
"""Largest attribute that old readers accept [bytes]; longer texts are in the header alone."""

_TEXT_SIZE = 16
"""Bytes that a text takes in an attribute."""


@attrs.frozen(kw_only=True)
class Hdf5Config(RecorderConfig):
    """Settings of the recorder `hdf5`."""

    compression: Literal["gzip"] | None = None
    """Compression of the datasets, by default none; `gzip` makes files smaller and writing slower."""


class Hdf5Recorder(Recorder):
    """HDF5, read by h5py, MATLAB, Julia and `pippin.open_run`; needs the extra `pippin[hdf5]`.

    Each channel is a dataset of its name, shape [rows, worlds, …], with the attributes `labels`, `units`, `frame` and
    `components`; slashes in names are groups. `time` is written last: its length is the number of whole rows. What was
    written stays readable if the process is killed.
    """

    Config = Hdf5Config
    suffix = ".h5"

    def require(self) -> None:
        """Import h5py."""
        import_library("h5py", "hdf5")

    def open(self, path: Path, header: Header) -> None:
        """Make the datasets."""
        import h5py

        self._file = h5py.File(path, "w", libver="earliest", locking=False)  # the recorder locks it
        _describe(self._file, header)
        self._columns = header.columns
        options = {"compression": self.config.compression, "shuffle": True} if self.config.compression else {}
        rows = max(1, self.config.chunk_bytes // header.row_type.itemsize)  # as many as the buffer holds
        time = Column(name="time", shape=(), dtype=np.dtype("<f8"), units=("s",))
        for column in (*header.columns, time):
            _annotate(_dataset(self._file, column, rows, options), column)
        self._file.flush()

    def write(self, rows: np.ndarray) -> None:
        """Append rows to all datasets, then their times."""
        for name in (column.name for column in self._columns):
            _append(self._file[name], rows[name])
        self._file.flush()
        _append(self._file["time"], rows["time"])
        self._file.flush()

    def finish(self) -> None:
        """Close the file."""
        self._file.close()


def _describe(file: Any, header: Header) -> None:
    import h5py

    file.create_dataset(HEADER, data=header.to_json(), dtype=h5py.string_dtype())
    file.attrs.update({"format": FORMAT, "format_version": FORMAT_VERSION, **header.versions, "config": header.config})
    if len(header.worlds) * 4 <= _ATTRIBUTE_ROOM:
        file.attrs["worlds"] = np.array(header.worlds, dtype=np.int32)
    for name in ("label", "control_dt", "period", "start_step", "quaternion_order", "up_axis"):
        file.attrs[name] = getattr(header, name)


def _dataset(file: Any, column: Column, rows: int, options: dict[str, Any]) -> Any:
    return file.create_dataset(
        column.name,
        shape=(0, *column.shape),
        maxshape=(None, *column.shape),
        dtype=column.dtype,
        chunks=(rows, *column.shape),
        **options,
    )


def _annotate(dataset: Any, column: Column) -> None:
    import h5py

    for name in ("labels", "units", "components"):
        texts = getattr(column, name)
        if texts and len(texts) * _TEXT_SIZE <= _ATTRIBUTE_ROOM:
            dataset.attrs[name] = np.array(texts, dtype=h5py.string_dtype())
    dataset.attrs["frame"] = column.frame


def _append(dataset: Any, values: np.ndarray) -> None:
    count = len(dataset)
    dataset.resize(count + len(values), axis=0)
    dataset[count:] = values


class Hdf5File:
    """A file of the recorder `hdf5`, also one that is cut off; slices are read when they are asked for.

    Args:
        path: The file.

    Raises:
        ConfigError: The file is damaged, or no recorder wrote it.
        PluginError: h5py is not installed.
    """

    def __init__(self, path: Path) -> None:
        h5py: Any = import_library("h5py", "hdf5")
        try:
            self._file = h5py.File(path, "r", locking=False)
            text = self._file[HEADER][()]
        except (OSError, KeyError) as error:
            raise ConfigError(not_ours(path, error)) from error
        self.header = Header.from_json(text, str(path))
        self._count = len(self._file["time"])

    def column(self, name: str) -> Any:
        """Return the whole rows of a column, read by slices."""
        return _WholeRows(self._file[name], self._count)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _WholeRows:
    """The first rows of a dataset: those that were written completely."""

    def __init__(self, dataset: Any, count: int) -> None:
        self._dataset, self._count = dataset, count
        self.shape = (count, *dataset.shape[1:])
        self.dtype = dataset.dtype

    def __getitem__(self, key: Any) -> Any:
        first, *rest = key if isinstance(key, tuple) else (key,)
        if first is Ellipsis:
            first, rest = slice(None), [Ellipsis, *rest]
        return self._dataset[(self._within(first), *rest)]

    def _within(self, rows: Any) -> Any:
        """Return the choice of rows, counted from the start: a negative index is counted from the last whole row."""
        if isinstance(rows, slice):
            return slice(*rows.indices(self._count))
        try:
            index = operator.index(rows)
        except TypeError:
            return rows
        if not -self._count <= index < self._count:
            raise IndexError(f"row {index} of {self._count} rows")
        return index % self._count


def mend(path: Path) -> tuple[Path, int]:
    """Cut all datasets of a file that was cut off to their whole rows; return the file, and the number of its rows."""
    h5py: Any = import_library("h5py", "hdf5")
    found = Hdf5File(path)
    names = [column.name for column in found.header.columns]
    found.close()
    with h5py.File(path, "r+", locking=False) as file:
        count = len(file["time"])
        for name in names:
            file[name].resize(count, axis=0)
    return path, count
