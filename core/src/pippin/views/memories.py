"""NumPy arrays over the memory of Warp arrays on the CPU, made once for each, because making one takes long."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import warp as wp
from pippin.state.scratch import Scratch

__all__ = ["NumpyMemories"]

_REMEMBERED = 32
"""Largest number of arrays kept, as in `launching.Aliases`."""


class NumpyMemories(Scratch):
    """NumPy arrays over memory on the CPU. They do not keep the memory alive: use them within a call."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], np.ndarray] = {}

    def of(
        self,
        array: wp.array,
        dtype: Any,
        shape: tuple[int, ...] | None = None,
        *,
        offset: int = 0,
        strides: tuple[int, ...] | None = None,
    ) -> np.ndarray:
        """Return the memory of an array as one of another type and shape, from the cache if possible.

        Args:
            array: An array on the CPU.
            dtype: NumPy's type of an element.
            shape: The shape; by default that of the array.
            offset: Offset of the first element [bytes].
            strides: Distances between elements along each axis [bytes]; by default they are dense.
        """
        key = (array.ptr, array.shape, dtype, shape, offset, strides)
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _REMEMBERED:
                self._made.clear()
            size = array.size * wp.types.type_size_in_bytes(array.dtype)
            memory: Any = (ctypes.c_byte * size).from_address(array.ptr or 0) if size else b""
            made = np.ndarray(array.shape if shape is None else shape, dtype, memory, offset, strides)
            self._made[key] = made
        return made
