"""One quantity of one view: the buffer it is read into, and the launches that read and write it.

What is launched is prepared once per array of Newton's, as preparing a launch takes longer than a small one runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present

from . import kernels
from .balls import Balls
from .choice import Choice
from .launching import Aliases, PreparedLaunch
from .marks import RowMarks
from .quantities import Quantity
from .runs import Runs

__all__ = ["Field"]

_SPECIAL = {
    "masses": "scatter_masses",
    "inertias": "scatter_inertias",
    "coms": "scatter_coms",
    "disable_gravities": "scatter_flags",
}
"""Kernels that write more than the quantity, or in another form, by quantity."""

_IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


class Field:
    """Reads and writes one quantity of all rows.

    Args:
        quantity: What it is.
        index: Element of Newton's arrays of each row and column, shape [rows, columns], padded with -1.
        shape: Shape of the buffer: rows, then columns and components where they are more than a number.
        faults: Where writes count what is wrong with an index or a number on the device.
        balls: The ball joints among the DOFs, where the quantity is a position.
    """

    def __init__(
        self,
        quantity: Quantity,
        index: np.ndarray,
        shape: tuple[int, ...],
        faults: wp.array,
        balls: Balls | None = None,
    ) -> None:
        self._name, self._faults, self._balls = quantity.name, faults, balls
        self._components = quantity.components
        self.dtype: Any = getattr(wp, quantity.dtype)
        self._count, self._width = index.shape
        self._index = wp.array(index.ravel(), dtype=int, device=faults.device)
        is_plain = quantity.name not in _SPECIAL and len(quantity.arrays) == 1
        row_size = wp.types.type_size_in_bytes(self.dtype) * math.prod(shape[1:])
        self._runs = Runs.of(index, row_size) if is_plain else None
        self.values = wp.zeros(shape, dtype=self.dtype, device=faults.device)
        """What `read` fills; 0 where it is padded."""
        if quantity.name == "coms":
            self.values.assign(np.full(shape, _IDENTITY, dtype=np.float32))
        self._uncounted = wp.zeros_like(faults)
        self._device = present(faults.device)
        self._aliases = Aliases()
        self._scatters: dict[int, PreparedLaunch] = {}
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
        if not self._index.size:
            return _nothing
        kernel = kernels.gather_flags if self.dtype is wp.uint8 else getattr(kernels, _gather_of(array.dtype))
        values = self._part(self.values, part, self.dtype if self.dtype is wp.uint8 else array.dtype, self._index.size)
        inputs = [array, self._index, values]
        # Its buffers are bound to it as long as the field lives.
        return present(wp.launch(kernel, self._index.size, inputs, device=array.device, record_cmd=True)).launch

    def write(self, arrays: Sequence[wp.array], data: wp.array, choice: Choice, marks: RowMarks | None = None) -> None:
        """Scatter data, dense on the device, into the chosen rows. May be recorded.

        Args:
            arrays: The arrays of the quantity, and of the inverse where it has one.
            data: As many rows as the choice says, in the shape of `values`.
            choice: The rows.
            marks: Marks the rows that were written, where bodies follow from them.
        """
        if not self._index.size:
            return
        if choice.is_all and self._runs is not None and not self._device.is_capturing:
            self._runs.write(arrays[0], data)
            if marks is not None:
                marks.mark_all()
        elif self._name in _SPECIAL:
            self._write_special(arrays, data, choice, marks)
        else:
            for part, array in enumerate(arrays):
                values = self._part(data, part, array.dtype, self._width * len(data))
                extra = [None] * 4 if marks is None else marks.arguments
                # A wrong index is one, however many arrays hold the quantity.
                faults = self._faults if part == 0 else self._uncounted
                self._launch(part, "scatter", [values, faults, *extra, array], choice)
            if self._balls is not None:
                self._balls.write(arrays[0], data, choice)

    def _write_special(
        self, arrays: Sequence[wp.array], data: wp.array, choice: Choice, marks: RowMarks | None
    ) -> None:
        types = {"coms": wp.transform, "disable_gravities": wp.uint8}
        values = self._aliases.of(data, types.get(self._name, arrays[0].dtype), self._width * len(data))
        extra = [] if marks is None else marks.arguments
        self._launch(0, _SPECIAL[self._name], [values, self._faults, *extra, *arrays], choice)

    def _launch(self, part: int, kernel: str, arguments: Sequence[Any], choice: Choice) -> None:
        scatter = self._scatters.get(part)
        if scatter is None:
            scatter = self._scatters[part] = PreparedLaunch(getattr(kernels, kernel), self._device)
        values, *more = arguments
        row_count = self._count if choice.rows is None else len(choice.rows)
        rows = [choice.rows, choice.mask, choice.is_compact]
        scatter(self._width * row_count, [values, self._width, self._index, *rows, *more])

    def _part(self, dense: wp.array, part: int, dtype: Any, count: int) -> wp.array:
        """Return one array's share of dense rows, element by element."""
        size = wp.types.type_size_in_bytes(self.dtype)
        inner = wp.types.type_size_in_bytes(dtype)
        return self._aliases.of(dense, dtype, count, offset=part * inner, stride=self._components * size)


def _gather_of(dtype: Any) -> str:
    """Return the name of the kernel that gathers elements of a type."""
    return {
        wp.float32: "gather_numbers",
        wp.vec3: "gather_vectors",
        wp.mat33: "gather_matrices",
        wp.transform: "gather_poses",
        wp.spatial_vector: "gather_twists",
    }[dtype]


def _nothing() -> None:
    """Do nothing: there are no elements."""
