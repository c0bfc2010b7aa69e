"""Rows that a setter of a view writes: all, listed by indices or marked by a mask; and the dirty flags of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host
from pippin.devices import shares_memory
from pippin.indices import IndexRange
from pippin.state.host_mirror import HostMirror
from pippin.state.kinematics import Coordinates
from pippin.state.snapshot import Scratch

from .errors import RowError, ViewError
from .kernels.rows import DirtyFlags, SelectedRows
from .launching import update
from .memory import NumpyArrayCache, WarpArrayCache, as_warp
from .structure import PADDING

_NONE = (None, False, None)


@attrs.frozen(kw_only=True, eq=False)
class RowSelection:
    """The rows of one call, valid until the next call of the view."""

    argument: Any
    """The rows as an argument of kernels, a `kernels.rows.SelectedRows`."""

    count: int
    """Number of rows that kernels visit: the number of indices, or all."""

    data_count: int
    """Number of rows that the data must have."""

    is_all: bool = False
    """Whether every row is written."""

    is_compact: bool = False
    """Whether the data has one row for each index."""

    listed: np.ndarray | None = None
    """The listed rows, if the host shares their memory; they may be out of range if they came in a Warp array."""

    known: np.ndarray | None = None
    """The rows that are written, in their order, if the host knows them: all, by a list or by a mask."""

    @property
    def data_rows(self) -> Any:
        """Rows of the data that are written, as an index of NumPy; only if the host knows the rows."""
        return slice(None) if self.is_all or self.is_compact else self.known


class RowSelector(Scratch):
    """Reads the rows that a call selects, into memory that is allocated once; errors call a row by `what`."""

    def __init__(self, count: int, device: wp.Device, what: str = "row") -> None:
        self._count, self._device = count, device
        self._range = IndexRange(count, what=what, error=ViewError, range_error=RowError)
        self._is_shared = shares_memory(device)
        self._mirrors = [HostMirror(wp.zeros(count, dtype=dtype, device=device)) for dtype in (int, bool)]
        # These structs change in place: a prepared launch packs a struct again only if it is another object.
        self._listed, self._masked = SelectedRows(), SelectedRows()
        everything = np.arange(count)
        self._all = RowSelection(argument=SelectedRows(), count=count, data_count=count, is_all=True, known=everything)
        self._aliases, self._arrays = WarpArrayCache(), NumpyArrayCache()
        self._last: tuple[wp.array | None, bool, Any] = _NONE

    def select(self, where: str, indices: Any, mask: Any, compact: bool) -> RowSelection:
        """Return the rows of one call.

        Args:
            where: Beginning of error messages.
            indices: Rows of the view: integers or a mask on the host, which are checked here, or an int32 array or a
                mask on the device.
            mask: Whether each row is written, shape [count].
            compact: Whether the data has as many rows as `indices`.

        Raises:
            RowError: An index on the host is out of range.
            ViewError: Both are passed, a type or shape is wrong, an index on the host is listed twice, or a host array
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
        if mask is not None:
            return self._of_mask(where, mask)
        if not _is_on_device(indices):
            return self._of_numbers(where, indices, compact)
        array = as_warp(indices, where, self._device)
        if array.dtype is wp.bool and not compact:
            return self._of_mask(where, array)  # indices are not boolean, so there is one meaning
        return self._of_device(where, indices, array, compact)

    def _of_numbers(self, where: str, indices: Any, compact: bool) -> RowSelection:
        rows = self._range.indices(indices, where)
        update(self._listed, rows=self._upload(where, 0, rows), is_compact=compact)
        self._last = _NONE
        data_count = len(rows) if compact else self._count
        return RowSelection(
            argument=self._listed, count=len(rows), data_count=data_count, is_compact=compact, listed=rows, known=rows
        )

    def _of_device(self, where: str, indices: Any, array: wp.array, compact: bool) -> RowSelection:
        if array.dtype is wp.uint32:
            array = array.view(wp.int32)
        if array.dtype is not wp.int32 or array.ndim != 1:
            raise ViewError(f"{where}: expected indices of type int32 and one axis, got {_text(array)}")
        rows = self._dense(where, 0, array)
        update(self._listed, rows=rows, is_compact=compact)
        selection = RowSelection(
            argument=self._listed,
            count=len(rows),
            data_count=len(rows) if compact else self._count,
            is_compact=compact,
            listed=self._arrays.of(rows, np.int32) if self._is_shared else None,
        )
        # Kernels read these rows where they lie, so the next call with the same array selects the same rows.
        self._last = (indices, compact, selection) if rows is indices else _NONE
        return selection

    def _of_mask(self, where: str, mask: Any) -> RowSelection:
        known = None
        if _is_on_device(mask):
            array = as_warp(mask, where, self._device)
            if array.dtype is not wp.bool or array.shape != (self._count,):
                raise ViewError(f"{where}: expected a mask of type bool and shape [{self._count}], got {_text(array)}")
            near = self._dense(where, 1, array)
        else:
            marks = np.asarray(mask)
            if marks.dtype != bool:
                raise ViewError(f"{where}: expected a mask of type bool, got {marks.dtype}; pass indices as 'indices'")
            near = self._upload(where, 1, self._range.mask(marks, where))
            known = np.flatnonzero(marks)
        update(self._masked, mask=near)
        return RowSelection(argument=self._masked, count=self._count, data_count=self._count, known=known)

    def _dense(self, where: str, slot: int, array: wp.array) -> wp.array:
        if array.device == self._device and array.is_contiguous:
            return array
        self._refuse_capture(where)
        if len(array) > self._count:
            raise ViewError(f"{where}: {len(array)} indices, but the view has {self._count} rows; list each once")
        near = self._mirrors[slot].array
        wp.copy(near, array, count=len(array))
        return self._aliases.of(near, near.dtype, len(array))

    def _upload(self, where: str, slot: int, numbers: np.ndarray) -> wp.array:
        if self._device.is_capturing:
            self._refuse_capture(where)
        count, mirror = len(numbers), self._mirrors[slot]
        mirror.numbers[:count] = numbers
        mirror.write(count)
        return self._aliases.of(mirror.array, mirror.array.dtype, count)

    def _refuse_capture(self, where: str) -> None:
        if self._device.is_capturing:
            raise ViewError(
                f"{where}: inside a capture, rows are selected by a dense Warp array on {self._device}, so that a"
                " replay reads it there"
            )


def _is_on_device(data: Any) -> bool:
    """Return whether data may be on a device, so that the host would have to wait for it; true for most Warp arrays.

    Other integers than those of 32 bits are read by the host if they lie there.
    """
    if isinstance(data, wp.array):
        return not shares_memory(present(data.device)) or data.dtype in (wp.int32, wp.uint32, wp.bool)
    return not isinstance(data, np.ndarray | Sequence) and hasattr(data, "__cuda_array_interface__")


def _text(array: wp.array) -> str:
    return f"{array.dtype.__name__} of shape {list(array.shape)}"


class RowFlags:
    """Sets the flags of the articulations and worlds of written rows, in masks of the host.

    The masks are those of articulations and of worlds, the latter of shape [world_count + 1]; -1 is for no world and no
    articulation.
    """

    def __init__(
        self,
        device: wp.Device,
        masks: tuple[wp.array[wp.bool], wp.array[wp.bool]],
        articulation_of: np.ndarray,
        world_of: np.ndarray,
    ) -> None:
        of = [wp.array(each.astype(np.int32), dtype=int, device=device) for each in (articulation_of, world_of)]
        #: The flags as an argument of kernels that set those of the rows they write.
        self.argument: Any = DirtyFlags()
        self.argument.articulation_of, self.argument.world_of = of
        self.argument.articulations, self.argument.worlds = masks
        self.world_of = of[1]
        in_worlds = np.where(world_of == PADDING, len(masks[1]) - 1, world_of)
        self._masks: Sequence[_Mask] = ()
        if shares_memory(device):
            self._masks = [_Mask(mask, index) for mask, index in zip(masks, (articulation_of, in_worlds), strict=True)]

    @classmethod
    def of_state(cls, host: Host, what: Coordinates, articulation_of: np.ndarray, world_of: np.ndarray) -> RowFlags:
        """Return the flags of rows whose joints, bodies or particles are written, which the rest follows."""
        return cls(present(host.model.device), host.services.written.masks(what), articulation_of, world_of)

    @classmethod
    def of_model(cls, host: Host, world_of: np.ndarray) -> RowFlags | None:
        """Return the flags of rows whose model is written; None if the solver does not ask for the worlds."""
        changed = host.services.model_changes.worlds
        if not changed.is_asked:
            return None
        device, no_articulation = present(host.model.device), np.full_like(world_of, PADDING)
        return cls(device, (wp.zeros(0, dtype=bool, device=device), changed.mask), no_articulation, world_of)

    def set(self, rows: np.ndarray | None) -> None:
        """Set the flags of some rows, or of all. Only in shared memory, and outside captures."""
        for mask in self._masks:
            mask.set(rows)


class _Mask:
    """A mask in shared memory, and the element of it that belongs to each row; -1 for none."""

    def __init__(self, mask: wp.array, index: np.ndarray) -> None:
        self._flags: np.ndarray = mask.numpy()
        self._index = index
        self._has_gaps = bool((index == PADDING).any())
        self._is_own_index = bool((index == np.arange(len(index))).all())
        self._all: Any = slice(0, len(index)) if self._is_own_index else np.unique(index[index != PADDING])

    def set(self, rows: np.ndarray | None) -> None:
        if rows is None:
            self._flags[self._all] = True
            return
        chosen = rows if self._is_own_index else self._index[rows]
        self._flags[chosen[chosen != PADDING] if self._has_gaps else chosen] = True
