"""One quantity of one view: the buffer it is read into, and the launches that read and write it.

A launch is prepared once for each of Newton's arrays, as preparing one takes longer than a small one runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present

from .balls import Balls
from .choice import Choice
from .kernels import field as kernels
from .kernels.marks import Marks
from .kernels.places import Places
from .launching import Aliases, PreparedLaunch
from .marks import RowMarks
from .quantities import Quantity
from .runs import Runs

__all__ = ["Field"]

_IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


class Field:
    """Reads and writes one quantity of all rows.

    Args:
        quantity: The quantity.
        index: Element of Newton's arrays of each row and column, shape [rows, columns], padded with -1.
        shape: Shape of the buffer: rows, then columns and components if there are several.
        faults: Where writes count what is wrong with an index or a number on the device.
        balls: The ball joints among the DOFs, if the quantity is in joint coordinates.
    """

    def __init__(
        self,
        quantity: Quantity,
        index: np.ndarray,
        shape: tuple[int, ...],
        faults: wp.array,
        balls: Balls | None = None,
    ) -> None:
        device = present(faults.device)
        self._quantity, self._device, self._balls = quantity, device, balls
        self._dtype: Any = getattr(wp, quantity.dtype)
        self._part_dtype = _part_dtype(quantity)
        self._places: Any = Places()
        self._places.index = wp.array(index.ravel(), dtype=int, device=device)
        self._places.width = self._width = index.shape[1]
        row_size = wp.types.type_size_in_bytes(self._dtype) * math.prod(shape[1:])
        self._runs = Runs.of(index, row_size) if _is_plain(quantity) else None
        #: What `read` fills; padding is 0.
        self.values = wp.zeros(shape, dtype=self._dtype, device=device)
        if quantity.storage == "position":
            self.values.assign(np.full(shape, _IDENTITY, dtype=np.float32))
        # An index that is wrong is counted once, however many arrays hold the quantity.
        self._faults = [faults, *(wp.zeros_like(faults) for _ in quantity.arrays[1:])]
        self._unmarked = Marks()
        self._aliases = Aliases()
        self._scatters = [PreparedLaunch(_scatter_kernel(quantity), device) for _ in quantity.arrays]
        self._gathers: dict[tuple[int, int], Callable[[], Any]] = {}

    def read(self, arrays: Sequence[wp.array]) -> wp.array:
        """Gather the quantity into `values`. May be recorded."""
        if self._runs is not None and not self._device.is_capturing:
            self._runs.read(arrays[0], self.values)
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
        values = self._part(self.values, part, self._dtype if is_flag else array.dtype, index.size)
        kernel = kernels.gather_flags if is_flag else _gather_kernel(array.dtype)
        # Its buffers are bound to it as long as the field lives.
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
        """Scatter data, dense on the device, into the chosen rows. May be recorded.

        Args:
            arrays: The arrays of the quantity.
            data: As many rows as the choice says, in the shape of `values`.
            choice: The rows.
            marks: Marks the rows that were written, if bodies follow from them.
            inverse: The array of inverses, if the quantity has one.
        """
        if not self._places.index.size:
            return
        if choice.is_all and self._runs is not None and not self._device.is_capturing:
            self._runs.write(arrays[0], data)
            if marks is not None:
                marks.mark_all()
            return
        marking = self._unmarked if marks is None else marks.argument
        for part, array in enumerate(arrays):
            values = self._part(data, part, self._part_dtype, self._width * len(data))
            targets = [array] if inverse is None else [array, inverse]
            inputs = [values, self._places, choice.argument, self._faults[part], marking, *targets]
            self._scatters[part](self._width * choice.count, inputs)
        if self._balls is not None:
            self._balls.write(arrays[0], data, choice)

    def _part(self, dense: wp.array, part: int, dtype: Any, count: int) -> wp.array:
        """Return one array's share of dense rows, element by element."""
        size = wp.types.type_size_in_bytes(self._dtype)
        inner = wp.types.type_size_in_bytes(dtype)
        stride = self._quantity.components * size
        return self._aliases.of(dense, dtype, count, offset=part * inner, stride=stride)


def _is_plain(quantity: Quantity) -> bool:
    """Tell whether the numbers stand in one array as they are, and nothing else is written with them."""
    return quantity.storage == "number" and not quantity.inverse and len(quantity.arrays) == 1


def _part_dtype(quantity: Quantity) -> Any:
    """Return the type of an array's share of an element, as it is set."""
    if quantity.storage == "flag":
        return wp.uint8
    return {1: wp.float32, 6: wp.spatial_vector, 7: wp.transform, 9: wp.mat33}[
        quantity.components // len(quantity.arrays)
    ]


def _scatter_kernel(quantity: Quantity) -> Any:
    if quantity.inverse:
        return kernels.scatter_masses if quantity.components == 1 else kernels.scatter_inertias
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
