"""Recorder `npz`: a file of NumPy arrays; until the end its rows are in a file beside it, so that a kill loses none."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from pippin.errors import ConfigError

from .files import room_for
from .header import Header, not_ours
from .parts import Parts
from .recorder import Recorder
from .spool import Spool, SpoolWriter

__all__ = ["NpzFile", "NpzRecorder", "assemble", "spool_of"]

HEADER = "header"
"""Name of the array with the header's text."""

_LOCAL_HEADER_SIZE = 30
_MARGIN = 1_000_000


def spool_of(path: Path) -> Path:
    """Return the file in which the rows of an npz file are kept until its end."""
    return path.with_name(f"{path.name}.rows")


class NpzRecorder(Recorder):
    """The default recorder: an npz file, read by `numpy.load` and `pippin.open_run`.

    The array of a channel has the channel's name; `labels/NAME` and `units/NAME` have its names and units. Until the
    end, the rows are in `PATH.rows`, which `pippin.open_run` reads and `pippin recover` turns into an npz file. At the
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
        if room_for(self.path) < spool.stat().st_size + _MARGIN:
            self.notes.append(
                f"the rows are in '{spool}', as there is no room for '{self.path.name}'; pippin.open_run reads them,"
                " and `pippin recover` writes the npz file"
            )
            return
        assemble(Spool(spool), self.path)
        spool.unlink()

    def join(self, parts: Parts, path: Path) -> None:
        """Assemble the npz file from the files of several processes."""
        assemble(parts, path)


def assemble(spool: Spool | Parts, path: Path) -> None:
    """Write an npz file of the rows of a spool, block by block; a file that is there is replaced at the end."""
    partial = path.with_name(f"{path.name}.part")
    try:
        _write(spool, partial)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _write(spool: Spool | Parts, path: Path) -> None:
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


def _write_column(archive: zipfile.ZipFile, name: str, spool: Spool | Parts, dtype: np.dtype[Any], shape: Any) -> None:
    description = {"descr": dtype.str, "fortran_order": False, "shape": (spool.count, *shape)}
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, description)
        for values in spool.blocks_of(name):
            member.write(np.ascontiguousarray(values).tobytes())


class NpzFile:
    """A finished npz file of a recorder; its arrays are memory-mapped.

    Args:
        path: The file.

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
            raise ConfigError(not_ours(path, error)) from error
        self.header = Header.from_json(text, str(path))

    def column(self, name: str) -> np.ndarray:
        """Return the values of a column, shape [rows, worlds, …]."""
        member = self._members[f"{name}.npy"]
        with self._path.open("rb") as file:
            file.seek(member.header_offset + _LOCAL_HEADER_SIZE - 4)
            name_size, extra_size = np.frombuffer(file.read(4), dtype="<u2")
            file.seek(int(name_size) + int(extra_size), os.SEEK_CUR)
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            start = file.tell()
        if not all(shape):
            return np.zeros(shape, dtype=dtype)
        return np.memmap(self._path, dtype=dtype, mode="r", offset=start, shape=shape)

    def close(self) -> None:
        """Do nothing: the arrays keep their memory."""


class SpoolFile:
    """The rows that a killed npz recorder left.

    Args:
        path: The file of rows.
    """

    def __init__(self, path: Path) -> None:
        self._spool = Spool(path)
        self.header = self._spool.header

    def column(self, name: str) -> np.ndarray:
        """Return the values of a column, memory-mapped."""
        return self._spool.rows[name]

    def close(self) -> None:
        """Do nothing: the arrays keep their memory."""


def mend(path: Path) -> tuple[Path, int]:
    """Turn the rows that a killed recorder left into an npz file; return it, and the number of its rows."""
    spool = Spool(path)
    target = path.with_suffix("")
    assemble(spool, target)
    path.unlink()
    return target, spool.count
