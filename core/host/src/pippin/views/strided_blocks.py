"""Rows of consecutive elements at equal distances, which are copied as blocks, as fast as memory allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from .indexing import PADDING
from .memory import NumpyArrayCache, WarpArrayCache
from .row_selection import RowSelection
from .rules import ValueRule


class StridedBlocks:
    """Copies between the rows in one of Newton's arrays and rows of values.

    On the CPU, Warp cannot record these copies: inside a capture, kernels replace them.

    Args:
        rows: First element of the first row, and the number of elements from one row to the next.
        shape: The numbers of rows and of elements in a row.
        size: Size of an element in Newton's array [bytes].
        spacing: Distance between two elements of values [bytes]; the size, unless values have more components.
    """

    def __init__(self, rows: tuple[int, int], shape: tuple[int, int], size: int, spacing: int) -> None:
        (start, stride), (self._count, self._width) = rows, shape
        self._size, self._spacing = size, spacing
        self._offset, self._step = start * size, stride * size
        self._numbers = self._width * size // 4
        self._type = "f4" if size == 4 else f"V{size}"
        # NumPy copies a row as one block if its type is opaque.
        self._row_type = f"V{self._width * size}"
        self._aliases, self._arrays = WarpArrayCache(), NumpyArrayCache()
        #: Whether values have the components of Newton's array alone, so that a row is one block.
        self.is_dense = spacing == size

    @classmethod
    def of(cls, index: np.ndarray, size: int, spacing: int | None = None) -> StridedBlocks | None:
        """Return the blocks of an index map of shape [rows, columns]; None if its rows are not such blocks."""
        count, width = index.shape
        if not count or not width or (index == PADDING).any():
            return None
        start, stride = int(index[0, 0]), int(index[1, 0] - index[0, 0]) if count > 1 else width
        expected = start + stride * np.arange(count)[:, None] + np.arange(width)
        if stride < width or (index != expected).any():
            return None
        return cls((start, stride), (count, width), size, size if spacing is None else spacing)

    def read(self, array: wp.array, values: wp.array, offset: int = 0) -> None:
        """Copy rows of an array into values, whose first element begins at an offset [bytes], in shared memory."""
        if self.is_dense:
            np.copyto(self._arrays.of(values, self._row_type, (self._count,)), self._rows(array))
        else:
            shape, strides = (self._count, self._width), (self._width * self._spacing, self._spacing)
            elements = self._arrays.of(values, self._type, shape, offset=offset, strides=strides)
            strides = (self._step, self._size)
            np.copyto(elements, self._arrays.of(array, self._type, shape, offset=self._offset, strides=strides))

    def read_on_device(self, array: wp.array, values: wp.array, offset: int = 0) -> None:
        """Copy rows of an array into values, both dense, where they are; the offset is 0."""
        del offset
        row: Any = wp.types.vector(self._numbers, wp.float32)
        rows = self._aliases.of(array, row, self._count, offset=self._offset, stride=self._step)
        wp.copy(self._aliases.of(values, row, self._count), rows)

    def write(
        self,
        array: wp.array,
        values: wp.array,
        selection: RowSelection,
        rows: np.ndarray | None,
        rule: ValueRule | None,
    ) -> bool:
        """Copy dense rows into selected rows of an array in shared memory, if all are good; return whether it is done.

        It is not done for rows out of range. `rows` are the listed rows as intp, None for all; without a rule, the
        values were checked before.
        """
        count = self._count
        if rows is None:
            if rule is not None and not rule.allows(self._arrays.of(values, np.float32, (count, self._numbers))):
                return False
            np.copyto(self._rows(array), self._arrays.of(values, self._row_type, (count,)))
            return True
        # As unsigned numbers, negative rows are large.
        if selection.known is None and rows.size and int(rows.view(np.uintp).max()) >= count:
            return False
        chosen = self._arrays.of(values, self._row_type, (selection.data_count,))
        if not selection.is_compact:
            chosen = chosen.take(rows)
        if rule is not None and not rule.allows(chosen.view(np.float32).reshape(-1, self._numbers)):
            return False
        self._rows(array)[rows] = chosen
        return True

    def _rows(self, array: wp.array) -> np.ndarray:
        """Return Newton's rows, shape [count]."""
        return self._arrays.of(array, self._row_type, (self._count,), offset=self._offset, strides=(self._step,))
