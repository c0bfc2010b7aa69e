"""Rows of consecutive elements at equal distances, which are copied as blocks, as fast as memory allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present

from .indexing import PADDING
from .launching import Aliases
from .memories import NumpyMemories

__all__ = ["Runs"]


class Runs:
    """Copies between the rows in one of Newton's arrays and rows of values.

    On the CPU, Warp cannot record these copies: inside a capture, kernels replace them.

    Args:
        start: First element of the first row.
        stride: Number of elements from one row to the next.
        width: Number of elements of a row.
        count: The number of rows.
        size: Size of an element in Newton's array [bytes].
        spacing: Distance between two elements of values [bytes]; the size, unless values have more components.
    """

    def __init__(self, *, start: int, stride: int, width: int, count: int, size: int, spacing: int) -> None:
        self._start, self._stride, self._width, self._count = start, stride, width, count
        self._size, self._spacing = size, spacing
        self._numbers = width * size // 4
        self._type = "f4" if size == 4 else f"V{size}"
        self._row_type = f"V{width * size}"
        self._aliases, self._memories = Aliases(), NumpyMemories()

    @classmethod
    def of(cls, index: np.ndarray, size: int, spacing: int | None = None) -> Runs | None:
        """Return the runs of an index map of shape [rows, columns]; None if it is not made of equal runs."""
        count, width = index.shape
        if not count or not width or (index == PADDING).any():
            return None
        start, stride = int(index[0, 0]), int(index[1, 0] - index[0, 0]) if count > 1 else width
        expected = start + stride * np.arange(count)[:, None] + np.arange(width)
        if stride < width or (index != expected).any():
            return None
        return cls(
            start=start,
            stride=stride,
            width=width,
            count=count,
            size=size,
            spacing=size if spacing is None else spacing,
        )

    @property
    def is_dense(self) -> bool:
        """Whether values have the components of Newton's array alone, so that a row is one block."""
        return self._spacing == self._size

    def read(self, array: wp.array, values: wp.array, offset: int = 0) -> None:
        """Copy rows of an array into values, whose first element begins at an offset [bytes]."""
        if present(array.device).is_cuda:
            # Rows that are not dense are left to kernels, see `Field`.
            wp.copy(self._alias(values, 0, self._width * self._size), self._alias(array, *self._place()))
        elif self.is_dense:
            np.copyto(self._dense(values), self._rows(array))
        else:
            np.copyto(self._elements(values, offset), self._elements_of_newton(array))

    def write(self, array: wp.array, values: wp.array, is_kept: Callable[[np.ndarray], bool]) -> bool:
        """Copy dense rows into all rows of an array on the CPU, if all are good; return whether it was done.

        Args:
            array: Newton's array.
            values: Dense rows.
            is_kept: Return whether the numbers of some rows, shape [rows, numbers], are allowed.
        """
        if not is_kept(self._memories.of(values, np.float32, (self._count, self._numbers))):
            return False
        np.copyto(self._rows(array), self._dense(values))
        return True

    def write_some(
        self,
        array: wp.array,
        values: wp.array,
        rows: np.ndarray,
        is_kept: Callable[[np.ndarray], bool],
        *,
        is_compact: bool,
    ) -> bool:
        """Copy dense rows into some rows of an array on the CPU, if all are good; return whether it was done.

        Args:
            array: Newton's array.
            values: Dense rows.
            rows: The rows, intp.
            is_kept: As of `write`.
            is_compact: Whether the values have one row for each of the rows.
        """
        if not _are_within(rows, self._count):
            return False
        chosen = self._dense(values, len(rows)) if is_compact else self._dense(values).take(rows)
        if not is_kept(chosen.view(np.float32).reshape(-1, self._numbers)):
            return False
        self._rows(array)[rows] = chosen
        return True

    def _place(self) -> tuple[int, int]:
        """Return the offset of the first row in an array, and the distance between two rows [bytes]."""
        return self._start * self._size, self._stride * self._size

    def _rows(self, array: wp.array) -> np.ndarray:
        """Return Newton's rows, shape [count]; NumPy copies a row as one block if its type is opaque."""
        offset, stride = self._place()
        return self._memories.of(array, self._row_type, (self._count,), offset=offset, strides=(stride,))

    def _dense(self, values: wp.array, count: int | None = None) -> np.ndarray:
        return self._memories.of(values, self._row_type, (self._count if count is None else count,))

    def _elements(self, values: wp.array, offset: int) -> np.ndarray:
        strides = (self._width * self._spacing, self._spacing)
        return self._memories.of(values, self._type, (self._count, self._width), offset=offset, strides=strides)

    def _elements_of_newton(self, array: wp.array) -> np.ndarray:
        offset, stride = self._place()
        strides = (stride, self._size)
        return self._memories.of(array, self._type, (self._count, self._width), offset=offset, strides=strides)

    def _alias(self, array: wp.array, offset: int, stride: int) -> wp.array:
        row: Any = wp.types.vector(self._numbers, wp.float32)
        return self._aliases.of(array, row, self._count, offset=offset, stride=stride)


def _are_within(rows: np.ndarray, count: int) -> bool:
    """Return whether all rows are from 0 to below the count; as unsigned numbers, negative ones are large."""
    return not rows.size or int(rows.view(np.uintp).max()) < count
