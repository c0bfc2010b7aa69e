"""Rows that are runs of neighbouring elements at equal distances: copied as wholes, as fast as memory allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present

from .indexing import PADDING
from .launching import Aliases

__all__ = ["Runs"]

_REMEMBERED = 32
"""Views of arrays that are kept, as of `launching.Aliases`."""


class Runs:
    """Copies between the rows in one of Newton's arrays and dense rows.

    On the CPU, Warp cannot record what this does: inside a capture, kernels take its place.

    Args:
        start: Element that the first row begins with.
        stride: Elements from row to row.
        width: Elements of a row.
        count: The number of rows.
        row_size: Size of a row [bytes].
    """

    def __init__(self, *, start: int, stride: int, width: int, count: int, row_size: int) -> None:
        self._start, self._stride, self._width = start, stride, width
        self._count, self._row_size = count, row_size
        self._aliases = Aliases()
        self._views: dict[tuple[int, int, int], np.ndarray] = {}

    @classmethod
    def of(cls, index: np.ndarray, row_size: int) -> Runs | None:
        """Return the runs that an index map consists of, shape [rows, columns], or None."""
        count, width = index.shape
        if not count or not width or (index == PADDING).any():
            return None
        start, stride = int(index[0, 0]), int(index[1, 0] - index[0, 0]) if count > 1 else width
        expected = start + stride * np.arange(count)[:, None] + np.arange(width)
        if stride < width or (index != expected).any():
            return None
        return cls(start=start, stride=stride, width=width, count=count, row_size=row_size)

    def read(self, array: wp.array, values: wp.array) -> None:
        """Copy rows of an array into dense ones."""
        self._copy(values, 0, self._row_size, array, *self._place())

    def write(self, array: wp.array, values: wp.array) -> None:
        """Copy dense rows into those of an array."""
        self._copy(array, *self._place(), values, 0, self._row_size)

    def _place(self) -> tuple[int, int]:
        """Return where the first row begins in an array, and how far it is from row to row [bytes]."""
        size = self._row_size // self._width
        return self._start * size, self._stride * size

    def _copy(
        self, target: wp.array, offset: int, stride: int, source: wp.array, source_offset: int, source_stride: int
    ) -> None:
        if present(target.device).is_cuda:
            wp.copy(self._alias(target, offset, stride), self._alias(source, source_offset, source_stride))
        else:
            # NumPy copies a row as a whole if it does not know what is in it.
            np.copyto(self._view(target, offset, stride), self._view(source, source_offset, source_stride))

    def _alias(self, array: wp.array, offset: int, stride: int) -> wp.array:
        row: Any = wp.types.vector(self._row_size // 4, wp.float32)
        return self._aliases.of(array, row, self._count, offset=offset, stride=stride)

    def _view(self, array: wp.array, offset: int, stride: int) -> np.ndarray:
        key = (array.ptr or 0, offset, stride)
        view = self._views.get(key)
        if view is None:
            if len(self._views) >= _REMEMBERED:
                self._views.clear()
            memory = array.numpy()
            view = np.ndarray((self._count,), f"V{self._row_size}", memory, offset, (stride,))
            self._views[key] = view
        return view
