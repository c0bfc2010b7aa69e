"""Npz files of recordings, and the files of rows that they are assembled from."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from pippin import ConfigError
from pippin.recording import Column, Header

from .spool import Spool

HEADER = "header"
"""Name of the array with the header's text."""

TIME = Column(name="time", shape=(), dtype=np.dtype("<f8"))
"""The simulated time of each row [s]."""

_LOCAL_HEADER_SIZE = 30


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
        if not all(shape):
            return np.zeros(shape, dtype=dtype)
        return np.memmap(self._path, dtype=dtype, mode="r", offset=start, shape=shape)

    def close(self) -> None:
        """Do nothing: the arrays keep their memory."""


class NpzRows(Spool):
    """The rows of an npz file that was not finished."""

    @staticmethod
    def repair(path: Path) -> tuple[Path, int]:
        """Turn the rows that a killed recorder left into an npz file; return it, and the number of its rows."""
        spool = Spool(path)
        target = path.with_suffix("")
        assemble(spool, target)
        path.unlink()
        return target, spool.count
