"""Values that a setter of a view was given: numbers on the host are checked before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import warp as wp

from .choice import Choice
from .errors import ViewError
from .host_numbers import host_numbers
from .rules import Rule, not_unit
from .staging import Staging

__all__ = ["Given", "Values"]


@attrs.frozen
class Given:
    """The data of one call, checked if it lies on the host."""

    where: str
    shape: tuple[int, ...]
    data: Any
    numbers: np.ndarray | None
    """The data if it lies on the host."""

    def on_device(self, staging: Staging) -> wp.array:
        """Return the values as a dense array that kernels can read.

        Raises:
            ViewError: The type or shape is wrong, or the data would have to be copied inside a capture.
        """
        if self.numbers is not None:
            return staging.put(self.numbers, self.shape, self.where)
        return staging.take(self.data, self.shape, self.where)


@attrs.frozen(kw_only=True, eq=False)
class Values:
    """The check of values of one quantity on the host; kernels check values on the device.

    Args:
        rule: The values that are allowed.
        dtype: Name of the type of the numbers.
        components: Numbers of each element.
        is_used: Whether each row has each element, shape [rows, columns]; padding is never written.
        told: Return the words for a row and a column.
    """

    rule: Rule
    dtype: str
    components: int
    is_used: np.ndarray
    told: Callable[[int, int], str]
    quaternion: np.ndarray | None = None
    """Position of each element in its quaternion, -1 if it is in none, shape [rows, columns]."""

    def of(self, data: Any, shape: tuple[int, ...], choice: Choice, where: str) -> Given:
        """Return data for a shape, after a check of the rows that are written, if the host has both.

        Raises:
            ViewError: The numbers have a wrong type or shape, or a value is not allowed; the message names it.
        """
        numbers = host_numbers(data, shape, self.dtype, where)
        if numbers is not None and choice.told is not None:
            self._refuse_faulty(numbers, shape, choice.told, choice, where)
        return Given(where, shape, data, numbers)

    def _refuse_faulty(
        self, numbers: np.ndarray, shape: tuple[int, ...], rows: np.ndarray, choice: Choice, where: str
    ) -> None:
        is_whole = self.quaternion is None
        if is_whole and self.rule.has_only_bounds and self.rule.is_kept(numbers):
            return
        elements = np.broadcast_to(numbers, shape)[choice.told_data]
        elements = elements.reshape(len(rows), self.is_used.shape[1], self.components)
        if is_whole and self.rule.is_kept(elements):
            return
        found = np.argwhere((self.rule.faulty(elements) | self._is_of_no_unit(elements, rows)) & self.is_used[rows])
        if not len(found):
            return
        at, column = found[0].tolist()
        value = elements[at, column].tolist()
        raise ViewError(
            f"{where}: {self.told(int(rows[at]), column)}: expected {self.rule.expected}, got"
            f" {value[0] if self.components == 1 else value}; nothing was written, correct it"
        )

    def _is_of_no_unit(self, elements: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return which elements begin a quaternion that does not have the length 1, shape [rows, columns]."""
        result = np.zeros(elements.shape[:2], dtype=bool)
        if self.quaternion is not None:
            at, column = np.nonzero(self.quaternion[rows] == 0)
            result[at, column] = not_unit(elements[at[:, None], column[:, None] + np.arange(4), 0])
        return result
