"""Arrays in npy and npz files, which somebody else may have written: read without their code, and in bounded memory."""

from __future__ import annotations

import math
import os
import zipfile
from typing import IO

import numpy as np

__all__ = ["UNREADABLE", "read_array", "read_arrays"]

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
    except Exception as error:  # decoders raise errors of any class about what is damaged or forged
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
    except Exception as error:  # as above
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
