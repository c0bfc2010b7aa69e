"""Arrays in npy, npz and csv files, which somebody else may have written: read without code, and in bounded memory."""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from .config.files import find_file
from .errors import ConfigError

__all__ = ["UNREADABLE", "read_array", "read_arrays", "read_table"]

UNREADABLE = (OSError, ValueError, LookupError, EOFError, AttributeError, TypeError, RuntimeError, zipfile.BadZipFile)
"""What readers of an archive, of arrays and of JSON raise about a file that is broken, encrypted or forged."""

_UNPACKED_SIZE, _UNPACKED_RATIO = 2**26, 20
"""Archives may unpack to so many bytes, or to so many times their size: zeros pack a thousand times smaller."""

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
"""Readers of the headers of npy files, by version."""


def read_array(path: str | os.PathLike[str]) -> np.ndarray:
    """Return the array of an npy file, of the shape that it states.

    Args:
        path: The file.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file is broken, holds Python objects, or does not have the size that it states.
    """
    try:
        with open(path, "rb") as stream:
            return _read(stream, os.path.getsize(path))
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise ValueError(str(error)) from error


def read_arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Return the arrays of an npz file by name, each of the shape that it states.

    Args:
        path: The file.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file is broken, holds Python objects, or does not have the size that it states; or it unpacks to
            far more than its size.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members, size = archive.infolist(), os.path.getsize(path)
            if sum(each.file_size for each in members) > max(_UNPACKED_SIZE, _UNPACKED_RATIO * size):
                raise ValueError("its members are far larger than the file")
            arrays = {}
            for member in members:
                with archive.open(member) as stream:
                    arrays[member.filename.removesuffix(".npy")] = _read(stream, member.file_size)
            return arrays
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise ValueError(str(error)) from error


def read_table(path: str, where: str, columns: tuple[int, ...] = ()) -> np.ndarray:
    """Return the rows of a file `.npy`, `.csv` with commas, or `.npz` with `times` and `values`; shape [rows, columns].

    Args:
        path: The file, as a configuration names it.
        where: Key path of the file, for errors.
        columns: Permitted numbers of columns; by default any.

    Raises:
        ConfigError: The file is missing, or does not hold rows of finite numbers.
    """
    file = find_file(path, where)
    try:
        rows = _rows(file)
    except (OSError, ValueError, LookupError) as error:
        raise ConfigError(f"{where}: {str(file)!r} holds no rows of numbers ({error}); write .npy or .csv") from error
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all() or (columns and rows.shape[1] not in columns):
        wanted = f" of {' or '.join(map(str, columns))} columns" if columns else ""
        raise ConfigError(f"{where}: {str(file)!r} must hold rows{wanted} of finite numbers, got {list(rows.shape)}")
    return rows.astype(float)


def listed_rows(rows: tuple[Any, ...] | str, where: str, columns: int = 3) -> np.ndarray:
    """Return rows that a file lists itself, or a table beside it, shape [rows, columns]."""
    return read_table(rows, where, (columns,)) if isinstance(rows, str) else np.array(rows)


def _rows(file: Path) -> np.ndarray:
    if file.suffix == ".csv":
        return np.loadtxt(file, delimiter=",", ndmin=2)
    if file.suffix == ".npz":
        arrays = read_arrays(file)
        rows = np.column_stack([arrays["times"], arrays["values"]])
    else:
        rows = read_array(file)
    if rows.dtype.kind not in "biuf":
        raise ValueError(f"it is of type {rows.dtype}")
    return rows


def _read(stream: IO[bytes], size: int) -> np.ndarray:
    kind = np.lib.format.read_magic(stream)
    shape, _, dtype = _HEADERS[kind](stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    if math.prod(shape) * dtype.itemsize != size - stream.tell():
        raise ValueError(f"an array does not have the size that it states, {list(shape)} of {dtype}")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)
