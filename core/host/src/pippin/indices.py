"""Indices of worlds and rows, read from what a user gives: integers, a boolean mask, or None for all.

Every argument that chooses worlds or rows is read here, so that a mask is never taken for the indices 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import attrs
import numpy as np

from .errors import ConfigError
from .spelling import listed

__all__ = ["IndexRange"]

_RUN_COUNT = 4
"""Number of runs of worlds that a text lists."""

_CPU = 1
"""The device type of host memory in DLPack."""

_BOOLEANS = frozenset({bool, np.bool_})
"""The types of booleans; neither has subclasses."""


@attrs.frozen(eq=False)
class IndexRange:
    """The valid indices of something that is counted from 0.

    Given are integers in a list, a set or an array of any library; one integer; a boolean mask of shape [count]; or
    None for all. Nothing is rounded, wrapped or cut off.
    """

    count: int
    """The number of things."""

    what: str = attrs.field(default="world", kw_only=True)
    """What is counted, for errors."""

    error: type[ConfigError] = attrs.field(default=ConfigError, kw_only=True)
    """The error for a wrong type or shape, and for an index that is listed twice."""

    range_error: type[ConfigError] = attrs.field(
        default=attrs.Factory(lambda self: self.error, takes_self=True), kw_only=True
    )
    """The error for an index out of range; by default `error`."""

    lowest: int = attrs.field(default=0, kw_only=True)
    """The lowest index; -1 if -1 stands for something."""

    def indices(self, choice: Any, where: str, *, may_repeat: bool = False) -> np.ndarray:
        """Return the indices in their order, or of the true entries of a mask, shape [chosen].

        Args:
            choice: What the user chose.
            where: Beginning of error messages.
            may_repeat: Whether an index may be listed twice.

        Raises:
            ConfigError: The type, a shape or an index is wrong, or an index is listed twice.
        """
        numbers = self._read(choice, where)
        if not may_repeat and np.count_nonzero(self._marked(numbers)) != len(numbers):
            values, counts = np.unique(numbers, return_counts=True)
            raise self.error(f"{where}: {int(values[counts > 1][0])} is listed twice; list each {self.what} once")
        return numbers

    def mask(self, choice: Any, where: str) -> np.ndarray:
        """Return whether each index from `lowest` on is chosen, shape [count - lowest]; one may be listed twice.

        Args:
            choice: What the user chose.
            where: Beginning of error messages.

        Raises:
            ConfigError: The type, a shape or an index is wrong.
        """
        return self._marked(self._read(choice, where))

    def _marked(self, numbers: np.ndarray) -> np.ndarray:
        marks = np.zeros(self.count - self.lowest, dtype=bool)
        marks[numbers - self.lowest] = True
        return marks

    def _read(self, choice: Any, where: str) -> np.ndarray:
        if choice is None:
            return np.arange(self.lowest, self.count)
        array = self._on_host(choice, where)
        if array.dtype == bool:
            if array.shape != (self.count,):
                raise self.error(
                    f"{where}: expected a mask of shape [{self.count}], got {list(array.shape)};"
                    f" give one boolean for each {self.what}"
                )
            return np.flatnonzero(array)
        if array.ndim > 1:
            raise self.error(
                f"{where}: expected a list of indices, got {array.dtype} of shape {list(array.shape)}; flatten it"
            )
        if not array.size:
            return np.zeros(0, dtype=np.int64)
        if array.dtype.kind not in "iu" or array.dtype.itemsize == 1:
            self._refuse_type(array.dtype, where)
        outside = np.extract((array < self.lowest) | (array >= self.count), array)
        if outside.size:
            raise self.range_error(
                f"{where}: {int(outside[0])} is not a {self.what}; there are {self.count}, counted from 0"
            )
        return np.atleast_1d(array).astype(np.int64)

    def _refuse_type(self, dtype: np.dtype, where: str) -> NoReturn:
        if dtype.kind in "iu":
            raise self.error(f"{where}: {dtype} may be indices or a mask; convert a mask to bool, and indices to int32")
        raise self.error(
            f"{where}: expected integers or booleans, got {dtype}; pass indices, or a mask of shape [{self.count}]"
        )

    def _on_host(self, choice: Any, where: str) -> np.ndarray:
        if isinstance(choice, str | bytes | bytearray | dict):
            raise self.error(f"{where}: expected integers or booleans, got {choice!r}; pass indices or a mask")
        if isinstance(choice, Iterable) and not hasattr(choice, "__array__") and not hasattr(choice, "__dlpack__"):
            choice = list(choice)
            kinds = set(map(type, choice))
            if not kinds.isdisjoint(_BOOLEANS) and not kinds <= _BOOLEANS:
                raise self.error(f"{where}: the list mixes indices and booleans; pass one of them")
        try:
            if hasattr(choice, "__dlpack_device__") and choice.__dlpack_device__()[0] != _CPU:
                import warp as wp

                array: Any = wp.from_dlpack(choice)
                return array.numpy()
            return np.asarray(choice)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            name = type(choice).__name__
            raise self.error(f"{where}: expected integers or booleans, got {name}: {error}; pass indices") from error


def chosen_worlds(choice: str | Sequence[int], count: int, where: str, otherwise: str = "leave it out") -> np.ndarray:
    """Return the worlds that a configuration chooses, in its order, shape [chosen].

    Args:
        choice: A slice as text, such as `"0:32"` or `"::2"`, or a list of indices.
        count: The number of worlds.
        where: Beginning of error messages.
        otherwise: The cure if no world is meant.
    """
    if not isinstance(choice, str):
        return IndexRange(count).indices(choice, where)
    bounds = [int(part) if part else None for part in choice.split(":")]
    for bound in bounds[:2]:
        if bound is not None and not -count <= bound <= count:
            raise ConfigError(
                f"{where}: {choice!r} reaches beyond the {count} worlds of the scene; use bounds within them"
            )
    worlds = np.arange(count)[slice(*bounds)]
    if not worlds.size:
        raise ConfigError(f"{where}: {choice!r} holds none of the {count} worlds; choose at least one, or {otherwise}")
    return worlds


def listed_worlds(worlds: Sequence[int] | np.ndarray) -> str:
    """Return ascending indices of worlds as text, with runs as slices: `worlds 0:32, 40`."""
    runs: list[list[int]] = []
    for world in map(int, worlds):
        if runs and runs[-1][-1] == world - 1:
            runs[-1].append(world)
        else:
            runs.append([world])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}:{run[-1] + 1}" for run in runs]
    return f"world{'s' if len(worlds) > 1 else ''} {listed(texts, _RUN_COUNT)}"
