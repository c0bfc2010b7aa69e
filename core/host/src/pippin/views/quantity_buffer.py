"""One quantity of one view: the buffer of its values, and the launches that read and write them.

A launch is prepared once for each of Newton's arrays, because preparing a launch takes longer than a small kernel. On
the CPU, rows of consecutive elements at equal distances are copied as blocks, as fast as memory allows. Ball joints
take part in DOF order: three components of a rotation vector replace the four numbers of a quaternion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.devices import shares_memory

from .kernels import gather_scatter as kernels
from .kernels.balls import BallJoints, gather_balls, scatter_balls
from .kernels.rows import DirtyFlags
from .launching import PreparedLaunch
from .memory import NumpyArrayCache, WarpArrayCache
from .quantities import ViewQuantity
from .row_selection import RowFlags, RowSelection
from .rules import RULES, ValueRule
from .structure import PADDING, ArticulationIndices, index_map

_IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

_ELEMENTS: dict[int, Any] = {1: wp.float32, 2: wp.vec2, 3: wp.vec3, 6: wp.spatial_vector, 7: wp.transform, 9: wp.mat33}
"""Types of elements for setting them, by their number of components."""


class QuantityBuffer:
    """Reads and writes one quantity of all rows.

    Args:
        index: Element of Newton's arrays of each row and column, shape [rows, columns], padded with -1.
        shape: Shape of the buffer: rows, then columns and components if there are several.
        faults: The faults of the quantity's setter, if it has one.
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
        self._index = index_map(index, device, self._rule, quaternion)
        self._width = index.shape[1]
        self._size = wp.types.type_size_in_bytes(self._dtype)
        self._is_shared = shares_memory(device)
        self._blocks = self._blocks_of(index)
        if self._blocks is not None:
            self._copy_blocks = self._blocks.read if self._is_shared else self._blocks.read_on_device
        is_number_alone = quantity.storage == "number" and not quantity.inverse and len(quantity.arrays) == 1
        self._is_plain = is_number_alone and quaternion is None
        #: Values that `read` fills in; padding is 0.
        self.values = wp.zeros(shape, dtype=self._dtype, device=device)
        if quantity.storage == "position":
            self.values.assign(np.full(shape, _IDENTITY, dtype=np.float32))
        self._no_flags = DirtyFlags()
        self._aliases = WarpArrayCache()
        self._scatter = PreparedLaunch(_scatter_kernel(quantity), device, self._width)
        self._gathers: dict[tuple[int, int], Callable[[], Any]] = {}

    def _blocks_of(self, index: np.ndarray) -> StridedBlocks | None:
        """Return the blocks of Newton's arrays, if the values are copied as such; a device copies dense rows alone."""
        quantity = self._quantity
        if quantity.storage == "flag":
            return None
        numbers = 3 if quantity.storage == "position" else quantity.components // len(quantity.arrays)
        blocks = StridedBlocks.of(index, self._size * numbers, self._size * quantity.components)
        return None if blocks is not None and not (self._is_shared or blocks.is_dense) else blocks

    def read(self, arrays: Sequence[wp.array]) -> wp.array:
        """Gather the quantity into `values`. May be recorded."""
        if self._blocks is not None and not self._device.is_capturing:
            for part, array in enumerate(arrays):
                self._copy_blocks(array, self.values, part * self._size)
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
        index = self._index.elements
        if not index.size:
            return lambda: None
        is_flag = self._quantity.storage == "flag"
        dtype = self._dtype if is_flag else array.dtype
        stride, offset = self._quantity.components * self._size, part * self._size
        values = self._aliases.of(self.values, dtype, index.size, offset=offset, stride=stride)
        kernel = kernels.gather_flags if is_flag else kernels.GATHER[array.dtype]
        # The launch keeps these buffers as long as this object lives.
        inputs = [array, index, values]
        return present(wp.launch(kernel, index.size, inputs, device=array.device, record_cmd=True)).launch

    def write(
        self,
        arrays: Sequence[wp.array],
        data: wp.array,
        selection: RowSelection,
        flags: RowFlags | None = None,
        inverse: wp.array | None = None,
        *,
        is_checked: bool = False,
    ) -> None:
        """Write data, dense on the device, into the selected rows, except values that are faults. May be recorded.

        Flags are set if something is computed from the rows that were written; `inverse` is the array of inverses.
        Both are None if there is no such thing.
        """
        if self._blocks is not None and self._is_plain and self._is_shared and not self._device.is_capturing:
            listed, rule = selection.listed, None if is_checked else self._rule
            rows = None if listed is None else listed.astype(np.intp, copy=False)
            if (selection.is_all or rows is not None) and self._blocks.write(arrays[0], data, selection, rows, rule):
                if flags is not None:
                    flags.set(rows)
                return
        if not self._index.elements.size:
            return
        element = wp.uint8 if self._quantity.storage == "flag" else _ELEMENTS[self._quantity.components]
        values = self._aliases.of(data, element, self._width * len(data))
        second = arrays[1] if len(arrays) == 2 else inverse
        inputs = [values, self._index, selection.argument, self._faults]
        flagging = self._no_flags if flags is None else flags.argument
        self._scatter(selection.count, [*inputs, flagging, arrays[0], second])
        if self._balls is not None:
            self._balls.write(arrays[0], data, selection, self._faults)


def _scatter_kernel(quantity: ViewQuantity) -> Any:
    if quantity.inverse:
        return kernels.scatter_masses if quantity.components == 1 else kernels.scatter_inertias
    if len(quantity.arrays) == 2:
        return kernels.scatter_intervals
    if quantity.storage == "number" and quantity.components in kernels.SCATTER:
        return kernels.SCATTER[quantity.components]
    return {"number": kernels.scatter_numbers, "flag": kernels.scatter_flags, "position": kernels.scatter_positions}[
        quantity.storage
    ]


class Balls:
    """Reads and writes the ball joints of all rows."""

    def __init__(self, indices: ArticulationIndices, device: wp.Device) -> None:
        self._aliases, width = WarpArrayCache(), indices.dofs.shape[1]
        self._count = indices.ball_coords.shape[1]
        rows = np.arange(len(indices.dofs))[:, None]
        slots = np.where(indices.ball_coords == PADDING, 0, rows * width + indices.ball_columns)
        self._joints: Any = BallJoints()
        self._joints.coord_of = wp.array(indices.ball_coords.ravel(), dtype=int, device=device)
        self._joints.slot_of = wp.array(slots.ravel(), dtype=int, device=device)
        self._joints.count, self._joints.width = self._count, width
        self._gather, self._scatter = PreparedLaunch(gather_balls, device), PreparedLaunch(scatter_balls, device)

    def read(self, joint_q: wp.array, values: wp.array) -> None:
        """Write rotation vectors into `values`, shape [count, max_dofs]. May be recorded."""
        self._gather(self._joints.coord_of.size, [joint_q, self._joints, self._flat(values)])

    def write(self, joint_q: wp.array, data: wp.array, selection: RowSelection, faults: wp.array | None) -> None:
        """Write quaternions from rotation vectors in the selected rows. May be recorded.

        The kernel of the other DOFs counts the wrong indices, in the same faults.
        """
        inputs = [self._flat(data), self._joints, selection.argument, faults, joint_q]
        self._scatter(selection.count * self._count, inputs)

    def _flat(self, array: wp.array) -> wp.array:
        return self._aliases.of(array, wp.float32, array.size)


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
        return self._arrays.of(array, self._row_type, (self._count,), offset=self._offset, strides=(self._step,))
