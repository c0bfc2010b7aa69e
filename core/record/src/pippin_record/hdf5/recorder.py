"""Recorder `hdf5`: chunked datasets with names and units as attributes, flushed chunk by chunk."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from pippin.recording import Column, Header, Recorder

from .file import CHECKSUMS, HEADER

_FACTS = ("format", "format_version", "label", "control_dt", "period", "start_step", "quaternion_order", "up_axis")

_ATTRIBUTE_ROOM = 60_000
"""Largest attribute that old readers accept [bytes]; longer texts are in the header alone."""

_TEXT_SIZE = 16
"""Bytes that a text takes in an attribute."""


class Hdf5Recorder(Recorder):
    """HDF5, read by h5py, MATLAB, Julia and `pippin.Run`; needs the extra `pippin[hdf5]`.

    Each channel is a dataset of its name, shape [rows, worlds, …], with the attributes `labels`, `units`, `frame` and
    `components`; slashes in names are groups. `time` is written last: its length is the number of whole rows. What was
    written stays readable if the process is killed.
    """

    suffix = ".h5"

    def open(self, path: Path, header: Header) -> None:
        """Make the datasets."""
        self._file = h5py.File(path, "w", libver=("v108", "v108"), locking=False)  # the recorder locks it
        text = header.to_json().encode()
        dataset = self._file.create_dataset(HEADER, data=text, dtype=h5py.string_dtype(length=len(text)))
        dataset.attrs["crc32"] = zlib.crc32(text)
        self._file.attrs.update({**header.versions, "config": header.config})
        self._file.attrs.update({name: getattr(header, name) for name in _FACTS})
        if len(header.worlds) * 4 <= _ATTRIBUTE_ROOM:
            self._file.attrs["worlds"] = np.array(header.worlds, dtype=np.int32)
        self._columns = header.columns
        packed = {"compression": self.config.compression, "shuffle": True} if self.config.compression else {}
        options = {"fletcher32": True, **packed}
        rows = max(1, self.config.chunk_bytes // header.row_type.itemsize)  # as many as the buffer holds
        time = Column(name="time", shape=(), dtype=np.dtype("<f8"), units=("s",))
        crcs = Column(name=CHECKSUMS, shape=(len(header.columns) + 1,), dtype=np.dtype("<u4"))
        for column in (*header.columns, crcs, time):
            _add_dataset(self._file, column, rows, options)
        self._file.flush()

    def write(self, rows: np.ndarray) -> None:
        """Append rows to all datasets, then their times."""
        for name in (column.name for column in self._columns):
            _append(self._file[name], rows[name])
        names = (*(column.name for column in self._columns), "time")
        _append(self._file[CHECKSUMS], np.stack([Header.checksums(rows[name]) for name in names], axis=1))
        self._file.flush()
        _append(self._file["time"], rows["time"])
        self._file.flush()

    def finish(self) -> None:
        """Close the file."""
        self._file.close()


def _add_dataset(file: Any, column: Column, rows: int, options: dict[str, Any]) -> None:
    dataset = file.create_dataset(
        column.name,
        shape=(0, *column.shape),
        maxshape=(None, *column.shape),
        dtype=column.dtype,
        chunks=(rows, *column.shape),
        **options,
    )
    for name in ("labels", "units", "components"):
        texts = getattr(column, name)
        if texts and len(texts) * _TEXT_SIZE <= _ATTRIBUTE_ROOM:
            dataset.attrs[name] = np.array(texts, dtype=h5py.string_dtype())
    dataset.attrs["frame"] = column.frame


def _append(dataset: Any, values: np.ndarray) -> None:
    count = len(dataset)
    dataset.resize(count + len(values), axis=0)
    dataset[count:] = values
