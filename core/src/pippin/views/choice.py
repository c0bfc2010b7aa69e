"""Rows that a setter of a view writes: all, those that indices list, or those that a mask marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import warp as wp

from .errors import RowError, ViewError
from .exchange import alias, as_warp
from .kernels.choice import Chosen
from .launching import update

__all__ = ["Choice", "RowChoice"]


@attrs.frozen(kw_only=True, eq=False)
class Choice:
    """The rows of one call, valid until the view's next one."""

    argument: Any
    """The same for kernels, a `kernels.choice.Chosen`."""

    count: int
    """How many rows are looked at: as many as indices, or all."""

    data_count: int
    """Rows that the data must have."""

    is_all: bool = False
    """Whether every row is written."""


class RowChoice:
    """Makes choices from what a caller passes, in memory that is allocated once.

    Args:
        count: The number of rows of the view.
        device: Where kernels read a choice.
    """

    def __init__(self, count: int, device: wp.Device) -> None:
        self._count, self._device = count, device
        near = (wp.zeros(count, dtype=int, device=device), wp.zeros(count, dtype=bool, device=device))
        self._rows, self._mask = near
        # Not pinned: the copy has left it when the call returns, and the next call may write it.
        self._host = [wp.zeros_like(each, device="cpu") for each in near] if device.is_cuda else [*near]
        self._numpy = [each.numpy() for each in self._host]
        # Structs that change in place: a prepared launch packs a struct anew only if it is another one.
        self._listed, self._marked = Chosen(), Chosen()
        self._all = Choice(argument=Chosen(), count=count, data_count=count, is_all=True)

    def of(self, where: str, indices: Any, mask: Any, compact: bool) -> Choice:
        """Return the choice.

        Args:
            where: What faults begin with.
            indices: Rows of the view: integers on the host, which are checked here, or an int32 array on the device.
            mask: Whether each row is meant, shape [count].
            compact: Whether the data has as many rows as `indices`.

        Raises:
            RowError: An index on the host is of no row.
            ViewError: Both are given, another type or shape, or a host array inside a capture.
        """
        if indices is None and mask is None and not compact:
            return self._all
        if indices is not None and mask is not None:
            raise ViewError(f"{where}: got indices and a mask; pass one of them")
        if compact and indices is None:
            raise ViewError(f"{where}: compact=True, but no indices that the rows of the data could follow; pass them")
        if mask is not None:
            update(self._marked, mask=self._mask_of(where, mask))
            return Choice(argument=self._marked, count=self._count, data_count=self._count)
        rows = self._rows_of(where, indices)
        update(self._listed, rows=rows, is_compact=compact)
        return Choice(argument=self._listed, count=len(rows), data_count=len(rows) if compact else self._count)

    def _rows_of(self, where: str, indices: Any) -> wp.array:
        if _is_on_device(indices):
            array = as_warp(indices, where)
            if array.dtype is wp.uint32:
                array = array.view(wp.int32)
            if array.dtype is not wp.int32 or array.ndim != 1:
                raise ViewError(f"{where}: expected indices of type int32 and one axis, got {_told(array)}")
            return self._near(where, array, self._rows)
        numbers = np.asarray(indices)
        if numbers.ndim != 1 or (numbers.size and not np.issubdtype(numbers.dtype, np.integer)):
            raise ViewError(f"{where}: expected a list of indices, got {numbers.dtype} of shape {list(numbers.shape)}")
        if len(numbers) > self._count:
            raise ViewError(f"{where}: {len(numbers)} indices, but the view has {self._count} rows; list each once")
        outside = numbers[(numbers < 0) | (numbers >= self._count)]
        if len(outside):
            raise RowError(f"{where}: {int(outside[0])} is no row; the view has {self._count}, counted from 0")
        return self._from_host(where, 0, numbers, self._rows)

    def _mask_of(self, where: str, mask: Any) -> wp.array:
        if _is_on_device(mask):
            array = as_warp(mask, where)
            if array.dtype is not wp.bool or array.shape != (self._count,):
                raise ViewError(f"{where}: expected a mask of type bool and shape [{self._count}], got {_told(array)}")
            return self._near(where, array, self._mask)
        marks = np.asarray(mask)
        if marks.dtype != bool or marks.shape != (self._count,):
            raise ViewError(
                f"{where}: expected a mask of type bool and shape [{self._count}],"
                f" got {marks.dtype} of shape {list(marks.shape)}"
            )
        return self._from_host(where, 1, marks, self._mask)

    def _near(self, where: str, array: wp.array, memory: wp.array) -> wp.array:
        """Return an array where kernels read it."""
        if array.device == self._device and array.is_contiguous:
            return array
        self._refuse_capture(where)
        if len(array) > self._count:
            raise ViewError(f"{where}: {len(array)} indices, but the view has {self._count} rows; list each once")
        wp.copy(memory, array, count=len(array))
        return alias(memory, memory.dtype, len(array))

    def _from_host(self, where: str, slot: int, numbers: np.ndarray, memory: wp.array) -> wp.array:
        self._refuse_capture(where)
        self._numpy[slot][: len(numbers)] = numbers
        if self._host[slot] is not memory:
            wp.copy(memory, self._host[slot], count=len(numbers))
        return alias(memory, memory.dtype, len(numbers))

    def _refuse_capture(self, where: str) -> None:
        if self._device.is_capturing:
            raise ViewError(
                f"{where}: inside a capture, rows are chosen by a dense Warp array on {self._device}, so that a replay"
                " reads it there"
            )


def _is_on_device(data: Any) -> bool:
    """Tell whether data may lie on a device, so that the host would have to wait for it; Warp arrays count as such."""
    if isinstance(data, wp.array):
        return True
    return not isinstance(data, np.ndarray | Sequence) and hasattr(data, "__cuda_array_interface__")


def _told(array: wp.array) -> str:
    return f"{array.dtype.__name__} of shape {list(array.shape)}"
