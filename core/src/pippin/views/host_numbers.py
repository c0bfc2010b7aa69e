"""Numbers that lie on the host, as NumPy arrays: numbers and lists of Python, and arrays of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from .errors import ViewError
from .exchange import unreadable

__all__ = ["broadcastable", "host_numbers"]

_ON_HOST = 1
"""DLPack's number of the CPU."""

_LISTED_KINDS = {"f": "iuf", "i": "iu", "u": "iu", "b": "b", "mark": "iufb"}
"""Kinds of NumPy's types that lists may have, by the kind of the type they are for."""

_ERRORS = (BufferError, RuntimeError, TypeError, ValueError)
"""What libraries raise if they do not hand out their memory, and NumPy if a list is ragged."""


def host_numbers(data: Any, shape: tuple[int, ...], dtype: str, where: str) -> np.ndarray | None:
    """Return data on the host as numbers that broadcast to a shape; None for a Warp array, and for data on a device.

    Args:
        data: Numbers, or arrays of any library.
        shape: The shape.
        dtype: Name of the type of the numbers. Arrays have this type, or bool for uint8; lists have any numbers of its
            kind, and integers for floats.
        where: Beginning of error messages.

    Raises:
        ViewError: The numbers have another type or shape.
    """
    numbers = _numbers(data, where)
    if numbers is None:
        return None
    is_array = not isinstance(data, int | float | complex | Sequence | np.generic)
    kinds = _LISTED_KINDS["mark" if dtype == "uint8" else np.dtype(dtype).kind]
    allowed = ("uint8", "bool") if dtype == "uint8" else (dtype,)
    if numbers.size and (numbers.dtype.kind not in kinds or (is_array and numbers.dtype.name not in allowed)):
        raise ViewError(
            f"{where}: expected {dtype} of shape {list(shape)}, got {numbers.dtype} of shape {list(numbers.shape)};"
            f" convert it: `data.astype(np.{dtype})`"
        )
    if not broadcastable(numbers.shape, shape):
        raise ViewError(
            f"{where}: expected {dtype} of shape {list(shape)}, or what broadcasts to it, got"
            f" {numbers.dtype} of shape {list(numbers.shape)}"
        )
    return numbers


def broadcastable(given: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Return whether a shape broadcasts to another one as NumPy does it, without axes that the other does not have."""
    return len(given) <= len(shape) and all(
        length in (1, target) for length, target in zip(given[::-1], shape[::-1], strict=False)
    )


def _numbers(data: Any, where: str) -> np.ndarray | None:
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, wp.array):
        return None
    if isinstance(data, int | float | complex | np.generic):
        return np.asarray(data)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _listed(data, where)
    if hasattr(data, "__dlpack__") and _is_on_host(data):
        try:
            return np.from_dlpack(data)  # pyright: ignore[reportArgumentType] (it has the method)
        except _ERRORS as error:
            raise unreadable(where, data, error) from error
    return None


def _listed(data: Sequence[Any], where: str) -> np.ndarray:
    try:
        return np.asarray(data)
    except _ERRORS as error:
        raise ViewError(
            f"{where}: expected numbers, or lists of them of equal lengths, got a {type(data).__name__} that is no"
            f" array: {error}"
        ) from error


def _is_on_host(data: Any) -> bool:
    device = getattr(data, "__dlpack_device__", None)
    return device is not None and int(device()[0]) == _ON_HOST
