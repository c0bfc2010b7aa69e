"""Rows that a setter of a view writes: all rows, rows listed by indices, or rows marked by a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.indices import IndexRange
from pippin.state.scratch import Scratch

from .errors import RowError, ViewError
from .exchange import alias, as_warp
from .kernels.choice import Chosen
from .launching import update
from .memories import NumpyMemories

__all__ = ["Choice", "RowChoice"]


_NO_CHOICE = (None, False, None)


@attrs.frozen(kw_only=True, eq=False)
class Choice:
    """The rows of one call, valid until the next call of the view."""

    argument: Any
    """The choice as an argument of kernels, a `kernels.choice.Chosen`."""

    count: int
    """Number of rows that kernels visit: the number of indices, or all."""

    data_count: int
    """Number of rows that the data must have."""

    is_all: bool = False
    """Whether every row is written."""

    is_compact: bool = False
    """Whether the data has one row for each index."""

    listed: np.ndarray | None = None
    """The listed rows, if their memory is on the CPU; they may be out of range if they came in a Warp array."""

    told: np.ndarray | None = None
    """The rows that are written, in their order, if the host was told of them: all, by a list or by a mask."""

    def rows(self) -> np.ndarray | None:
        """Return the listed rows in the type that NumPy takes without converting it; None if they are not known."""
        return None if self.listed is None else self.listed.astype(np.intp)

    @property
    def told_data(self) -> Any:
        """Rows of the data that are written, as an index of NumPy; only if the host was told of the rows."""
        return slice(None) if self.is_all or self.is_compact else self.told


class RowChoice(Scratch):
    """Makes choices from the arguments of a call, in memory that is allocated once.

    Args:
        count: The number of rows of the view.
        device: Device of the kernels that read a choice.
        what: What a row is called in errors.
    """

    def __init__(self, count: int, device: wp.Device, what: str = "row") -> None:
        self._count, self._device = count, device
        self._range = IndexRange(count, what=what, error=ViewError, range_error=RowError)
        near = (wp.zeros(count, dtype=int, device=device), wp.zeros(count, dtype=bool, device=device))
        self._rows, self._mask = near
        # Not pinned: the copy has read the buffer when the call returns, and the next call may overwrite it.
        self._host = [wp.zeros_like(each, device="cpu") for each in near] if device.is_cuda else [*near]
        self._numpy = [each.numpy() for each in self._host]
        # These structs change in place: a prepared launch packs a struct again only if it is another object.
        self._listed, self._marked = Chosen(), Chosen()
        self._everything = np.arange(count)
        self._all = Choice(argument=Chosen(), count=count, data_count=count, is_all=True, told=self._everything)
        self._memories = NumpyMemories()
        self._last: tuple[Any, bool, Any] = _NO_CHOICE

    def of(self, where: str, indices: Any, mask: Any, compact: bool) -> Choice:
        """Return the choice.

        Args:
            where: Beginning of error messages.
            indices: Rows of the view: integers or a mask on the host, which are checked here, or an int32 array or a
                mask on the device.
            mask: Whether each row is written, shape [count].
            compact: Whether the data has as many rows as `indices`.

        Raises:
            RowError: An index on the host is out of range.
            ViewError: Both are given, a type or shape is wrong, an index on the host is listed twice, or a host array
                is passed inside a capture.
        """
        if indices is None and mask is None and not compact:
            return self._all
        if mask is None and indices is self._last[0] and compact is self._last[1]:
            return self._last[2]
        if indices is not None and mask is not None:
            raise ViewError(f"{where}: got indices and a mask; pass one of them")
        if compact and indices is None:
            raise ViewError(f"{where}: compact=True, but no indices that the rows of the data could follow; pass them")
        if mask is None and not compact and _is_mask_on_device(indices):
            mask = indices  # of one shape, so it cannot be meant otherwise
        if mask is not None:
            update(self._marked, mask=self._mask_of(where, mask))
            told = None if _is_on_device(mask) else np.flatnonzero(self._numpy[1])
            return Choice(argument=self._marked, count=self._count, data_count=self._count, told=told)
        rows = self._rows_of(where, indices)
        update(self._listed, rows=rows, is_compact=compact)
        is_told = not _is_on_device(indices)
        near = self._memories.of(rows, np.int32) if self._device.is_cpu else None
        choice = Choice(
            argument=self._listed,
            count=len(rows),
            data_count=len(rows) if compact else self._count,
            is_compact=compact,
            listed=near,
            told=self._numpy[0][: len(rows)] if is_told else None,
        )
        # Kernels read these rows where they lie, so the next call with the same array makes the same choice.
        self._last = (indices, compact, choice) if rows is indices else _NO_CHOICE
        return choice

    def _rows_of(self, where: str, indices: Any) -> wp.array:
        if _is_on_device(indices):
            array = as_warp(indices, where)
            if array.dtype is wp.uint32:
                array = array.view(wp.int32)
            if array.dtype is not wp.int32 or array.ndim != 1:
                raise ViewError(f"{where}: expected indices of type int32 and one axis, got {_told(array)}")
            return self._near(where, array, self._rows)
        return self._from_host(where, 0, self._range.indices(indices, where), self._rows)

    def _mask_of(self, where: str, mask: Any) -> wp.array:
        if _is_on_device(mask):
            array = as_warp(mask, where)
            if array.dtype is not wp.bool or array.shape != (self._count,):
                raise ViewError(f"{where}: expected a mask of type bool and shape [{self._count}], got {_told(array)}")
            return self._near(where, array, self._mask)
        marks = np.asarray(mask)
        if marks.dtype != bool:
            raise ViewError(f"{where}: expected a mask of type bool, got {marks.dtype}; pass indices as 'indices'")
        return self._from_host(where, 1, self._range.mask(marks, where), self._mask)

    def _near(self, where: str, array: wp.array, memory: wp.array) -> wp.array:
        """Return an array in a form that kernels can read: dense, on the device."""
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


def _is_mask_on_device(data: Any) -> bool:
    return _is_on_device(data) and as_warp(data, "indices").dtype is wp.bool


def _is_on_device(data: Any) -> bool:
    """Return whether data may be on a device, so that the host would have to wait for it; true for most Warp arrays.

    Other integers than those of 32 bits are read by the host if they lie there.
    """
    if isinstance(data, wp.array):
        return not present(data.device).is_cpu or data.dtype in (wp.int32, wp.uint32, wp.bool)
    return not isinstance(data, np.ndarray | Sequence) and hasattr(data, "__cuda_array_interface__")


def _told(array: wp.array) -> str:
    return f"{array.dtype.__name__} of shape {list(array.shape)}"
