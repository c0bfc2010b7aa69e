"""One quantity of one view: the buffer of its values, and the launches that read and write them.

A launch is prepared once for each of Newton's arrays, because preparing a launch takes longer than a small kernel. On
the CPU, rows that lie in blocks are copied without a launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present

from .balls import Balls
from .choice import Choice
from .kernels import field as kernels
from .kernels.marks import Marks
from .launching import Aliases, PreparedLaunch
from .marks import RowMarks
from .places import places_of
from .quantities import ViewQuantity
from .rules import RULES
from .runs import Runs

__all__ = ["Field"]

_IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


class Field:
    """Reads and writes one quantity of all rows.

    Args:
        quantity: The quantity.
        index: Element of Newton's arrays of each row and column, shape [rows, columns], padded with -1.
        shape: Shape of the buffer: rows, then columns and components if there are several.
        device: Device of the simulation.
        faults: The faults of the quantity's setter; None if it has no setter.
        balls: The ball joints among the DOFs, if the quantity is in joint coordinates.
        quaternion: Position of each element in its quaternion, -1 if it is in none; None if there are no quaternions.
    """

    def __init__(
        self,
        quantity: ViewQuantity,
        index: np.ndarray,
        shape: tuple[int, ...],
        device: wp.Device,
        faults: wp.array | None = None,
        balls: Balls | None = None,
        quaternion: np.ndarray | None = None,
    ) -> None:
        self._quantity, self._device, self._balls, self._faults = quantity, device, balls, faults
        self._dtype: Any = getattr(wp, quantity.dtype)
        self._rule = RULES[quantity.valid]
        self._places = places_of(index, device, self._rule, quaternion)
        self._width = index.shape[1]
        self._size = wp.types.type_size_in_bytes(self._dtype)
        self._runs = self._runs_of(index)
        self._is_plain = _is_plain(quantity) and quaternion is None
        #: Values that `read` fills in; padding is 0.
        self.values = wp.zeros(shape, dtype=self._dtype, device=device)
        if quantity.storage == "position":
            self.values.assign(np.full(shape, _IDENTITY, dtype=np.float32))
        self._unmarked = Marks()
        self._aliases = Aliases()
        self._scatter = PreparedLaunch(_scatter_kernel(quantity), device, self._width)
        self._gathers: dict[tuple[int, int], Callable[[], Any]] = {}

    def _runs_of(self, index: np.ndarray) -> Runs | None:
        """Return the runs of Newton's arrays, if the values are copied from them; CUDA copies dense rows alone."""
        quantity = self._quantity
        if quantity.storage == "flag":
            return None
        numbers = 3 if quantity.storage == "position" else quantity.components // len(quantity.arrays)
        runs = Runs.of(index, self._size * numbers, self._size * quantity.components)
        return None if runs is not None and self._device.is_cuda and not runs.is_dense else runs

    def read(self, arrays: Sequence[wp.array]) -> wp.array:
        """Gather the quantity into `values`. May be recorded."""
        if self._runs is not None and not self._device.is_capturing:
            for part, array in enumerate(arrays):
                self._runs.read(array, self.values, part * self._size)
            return self.values
        for part, array in enumerate(arrays):
            key = (part, array.ptr or 0)
            gather = self._gathers.get(key)
            if gather is None:
                gather = self._gathers[key] = self._prepare(part, array)
            gather()
        if self._balls is not None:
            self._balls.read(arrays[0], self.values)
        return self.values

    def _prepare(self, part: int, array: wp.array) -> Callable[[], Any]:
        index = self._places.index
        if not index.size:
            return _nothing
        is_flag = self._quantity.storage == "flag"
        dtype = self._dtype if is_flag else array.dtype
        stride, offset = self._quantity.components * self._size, part * self._size
        values = self._aliases.of(self.values, dtype, index.size, offset=offset, stride=stride)
        kernel = kernels.gather_flags if is_flag else _gather_kernel(array.dtype)
        # The launch keeps these buffers as long as the field lives.
        inputs = [array, index, values]
        return present(wp.launch(kernel, index.size, inputs, device=array.device, record_cmd=True)).launch

    def write(
        self,
        arrays: Sequence[wp.array],
        data: wp.array,
        choice: Choice,
        marks: RowMarks | None = None,
        inverse: wp.array | None = None,
    ) -> None:
        """Write data, dense on the device, into the chosen rows, except values that are faults. May be recorded.

        Args:
            arrays: The arrays of the quantity.
            data: Rows in the shape of `values`, as many as the choice requires.
            choice: The rows.
            marks: Marks the rows that were written, if bodies are computed from them.
            inverse: The array of inverses, if the quantity has one.
        """
        if not self._places.index.size:
            return
        if self._is_plain and self._copy(arrays[0], data, choice, marks):
            return
        values = self._aliases.of(data, _element(self._quantity), self._width * len(data))
        targets = arrays if inverse is None else [*arrays, inverse]
        marking = self._unmarked if marks is None else marks.argument
        self._scatter(choice.count, [values, self._places, choice.argument, self._faults, marking, *targets])
        if self._balls is not None:
            self._balls.write(arrays[0], data, choice, self._faults)

    def _copy(self, array: wp.array, data: wp.array, choice: Choice, marks: RowMarks | None) -> bool:
        """Copy the rows as blocks, if they are blocks and all values are allowed; return whether it was done."""
        if self._runs is None or self._device.is_cuda or self._device.is_capturing:
            return False
        rows, is_kept = None, self._rule.is_kept
        if choice.is_all:
            is_done = self._runs.write(array, data, is_kept)
        else:
            rows = choice.rows()
            if rows is None:
                return False
            is_done = self._runs.write_some(array, data, rows, is_kept, is_compact=choice.is_compact)
        if is_done and marks is not None:
            marks.mark(rows)
        return is_done


def _is_plain(quantity: ViewQuantity) -> bool:
    """Return whether one array holds the numbers unchanged, and nothing else is written with them."""
    return quantity.storage == "number" and not quantity.inverse and len(quantity.arrays) == 1


def _element(quantity: ViewQuantity) -> Any:
    """Return the type of an element for setting it."""
    if quantity.storage == "flag":
        return wp.uint8
    return {1: wp.float32, 2: wp.vec2, 6: wp.spatial_vector, 7: wp.transform, 9: wp.mat33}[quantity.components]


def _scatter_kernel(quantity: ViewQuantity) -> Any:
    if quantity.inverse:
        return kernels.scatter_masses if quantity.components == 1 else kernels.scatter_inertias
    if len(quantity.arrays) == 2:
        return kernels.scatter_intervals
    return {"number": kernels.scatter, "flag": kernels.scatter_flags, "position": kernels.scatter_positions}[
        quantity.storage
    ]


def _gather_kernel(dtype: Any) -> Any:
    """Return the kernel that gathers elements of a type."""
    return {
        wp.float32: kernels.gather_numbers,
        wp.vec3: kernels.gather_vectors,
        wp.mat33: kernels.gather_matrices,
        wp.transform: kernels.gather_poses,
        wp.spatial_vector: kernels.gather_twists,
    }[dtype]


def _nothing() -> None:
    """Do nothing: there are no elements."""
