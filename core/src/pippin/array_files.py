"""Arrays in npy and npz files, which somebody else may have written: read without their code, and in bounded memory."""

from __future__ import annotations

import math
import os
import zipfile
from typing import IO

import numpy as np

UNREADABLE = (OSError, ValueError, LookupError, EOFError, AttributeError, TypeError, RuntimeError, zipfile.BadZipFile)
"""What readers of an archive, of arrays and of JSON raise about a file that is broken, encrypted or forged."""

_UNPACKED_SIZE, _UNPACKED_RATIO = 2**26, 20
"""Archives may unpack to so many bytes, or to so many times their size: zeros pack a thousand times smaller."""

_GIB = 2**30

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
"""Readers of the headers of npy files, by version."""


def physical_memory() -> int | None:
    """Return the memory of this machine [B]; None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def refuse_expansion(size: float) -> None:
    """Refuse a compressed file before it is unpacked, if it would take half of this machine's memory.

    Args:
        size: What it would take [B].

    Raises:
        ValueError: It would take so much.
    """
    memory = physical_memory()
    if memory is not None and size > memory / 2:
        raise ValueError(f"it unpacks to {size / _GIB:.3g} GiB, and this machine has {memory / _GIB:.3g} GiB of memory")


def read_array(path: str | os.PathLike[str]) -> np.ndarray:
    """Return the array of an npy file.

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
    """Return the arrays of an npz file by name.

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


def _read(stream: IO[bytes], size: int) -> np.ndarray:
    kind = np.lib.format.read_magic(stream)
    shape, _, dtype = _HEADERS[kind](stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    if math.prod(shape) * dtype.itemsize != size - stream.tell():
        raise ValueError(f"an array does not have the size that it states, {list(shape)} of {dtype}")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)
