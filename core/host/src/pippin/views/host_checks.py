"""Checks of what a setter of a view receives: numbers that lie on the host are checked before anything is written.

Those are numbers and lists of Python, and arrays on the CPU of every library but Warp, whose arrays kernels check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import warp as wp

from .errors import ViewError
from .memory import CheckedData, broadcastable, unreadable
from .row_selection import RowSelection
from .rules import RULES, ValueRule, not_unit

_ON_HOST = 1
"""DLPack's number of the CPU."""

_LISTED_KINDS = {"f": "iuf", "i": "iu", "u": "iu", "b": "b", "mark": "iufb"}
"""Kinds of NumPy's types that lists may have, by the kind of the type they are for."""

_ERRORS = (BufferError, RuntimeError, TypeError, ValueError)
"""What libraries raise if they do not hand out their memory, and NumPy if a list is ragged."""


@attrs.frozen(kw_only=True, eq=False)
class HostCheck:
    """The check of values of one quantity on the host; kernels check values on the device."""

    rule: ValueRule = RULES["finite"]
    dtype: str = "float32"
    components: int
    is_used: np.ndarray
    """Whether each row has each element, shape [rows, columns]; padding is never written."""

    describe: Callable[[int, int], str]
    """Return the words for a row and a column."""

    quaternion: np.ndarray | None = None
    """Position of each element in its quaternion, -1 if it is in none, shape [rows, columns]."""
    _type: np.dtype = attrs.field(init=False, default=attrs.Factory(lambda self: np.dtype(self.dtype), takes_self=True))

    def check(self, data: Any, shape: tuple[int, ...], selection: RowSelection, where: str) -> CheckedData:
        """Return data of any library for a shape, after a check of the rows that are written, if the host has both."""
        numbers = data if isinstance(data, np.ndarray) else _numbers(data, where)
        if numbers is None:
            return CheckedData(where, shape, data, None, False)
        if numbers.dtype != self._type:
            self._refuse_type(numbers, data, shape, where)
        if numbers.shape != shape and not broadcastable(numbers.shape, shape):
            raise ViewError(
                f"{where}: expected {self.dtype} of shape {list(shape)}, or what broadcasts to it, got"
                f" {numbers.dtype} of shape {list(numbers.shape)}"
            )
        is_checked = selection.known is not None
        if is_checked and not (self.quaternion is None and self.rule.has_only_bounds and self.rule.allows(numbers)):
            self._refuse_faulty(numbers, shape, selection, where)
        return CheckedData(where, shape, data, numbers, is_checked)

    def _refuse_type(self, numbers: np.ndarray, data: Any, shape: tuple[int, ...], where: str) -> None:
        is_array = not isinstance(data, int | float | complex | Sequence | np.generic)
        is_mark = self.dtype == "uint8"
        kinds = _LISTED_KINDS["mark" if is_mark else self._type.kind]
        is_other = is_array and numbers.dtype.name not in ((self.dtype, "bool") if is_mark else (self.dtype,))
        if numbers.size and (numbers.dtype.kind not in kinds or is_other):
            raise ViewError(
                f"{where}: expected {self.dtype} of shape {list(shape)}, got {numbers.dtype} of shape"
                f" {list(numbers.shape)}; convert it: `data.astype(np.{self.dtype})`"
            )

    def _refuse_faulty(self, numbers: np.ndarray, shape: tuple[int, ...], selection: RowSelection, where: str) -> None:
        rows: Any = selection.known
        elements = np.broadcast_to(numbers, shape)[selection.data_rows]
        elements = elements.reshape(len(rows), self.is_used.shape[1], self.components)
        if self.quaternion is None and self.rule.allows(elements):
            return
        is_faulty = self.rule.faulty(elements)
        if self.quaternion is not None:
            at, column = np.nonzero(self.quaternion[rows] == 0)  # elements that begin a quaternion
            is_faulty[at, column] |= not_unit(elements[at[:, None], column[:, None] + np.arange(4), 0])
        found = np.argwhere(is_faulty & self.is_used[rows])
        if not len(found):
            return
        at, column = found[0].tolist()
        value = elements[at, column].tolist()
        raise ViewError(
            f"{where}: {self.describe(int(rows[at]), column)}: expected {self.rule.expected}, got"
            f" {value[0] if self.components == 1 else value}; nothing was written, pass allowed values"
        )


def _numbers(data: Any, where: str) -> np.ndarray | None:
    if isinstance(data, wp.array):
        return None
    if isinstance(data, int | float | complex | np.generic):
        return np.asarray(data)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        try:
            return np.asarray(data)
        except _ERRORS as error:
            raise ViewError(
                f"{where}: expected numbers, or lists of them of equal lengths, got a {type(data).__name__} that is not"
                f" an array: {error}"
            ) from error
    device = getattr(data, "__dlpack_device__", None)
    if device is not None and hasattr(data, "__dlpack__") and int(device()[0]) == _ON_HOST:
        try:
            return np.from_dlpack(data)
        except _ERRORS as error:
            raise unreadable(where, data, error) from error
    return None
