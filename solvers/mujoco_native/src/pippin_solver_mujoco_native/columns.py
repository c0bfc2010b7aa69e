"""Columns of arrays, and views of them with one row per world."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import warp as wp

__all__ = ["as_index", "columns_of", "host_views", "shift_or_none"]

_KEPT = 16
"""Size of the cache; a simulation has two states and one control."""


def host_views(world_count: int | None) -> Callable[[wp.array], np.ndarray]:
    """Return a function from an array on the CPU to a cached view, with a row for each world, or with the shape of the
    array if the count is None: making a view is slow.

    The closure holds the views, so that a checkpoint does not find them: they are valid in this process only.
    """
    if world_count is None:
        return lru_cache(maxsize=_KEPT)(np.asarray)
    return lru_cache(maxsize=_KEPT)(lambda array: np.asarray(array).reshape(world_count, -1))


def shift_or_none(shift: np.ndarray) -> np.ndarray | None:
    """Return the offset to add to columns; None if it is zero, as in most models."""
    return shift if shift.any() else None


def as_index(indices: np.ndarray) -> Any:
    """Return indices as a slice if they are consecutive: NumPy copies a slice several times as fast."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def columns_of(starts: np.ndarray, width: int) -> np.ndarray:
    """Return the columns of joints of a width, given the first column of each, shape [joints * width]."""
    return (starts[:, None] + np.arange(width)).ravel()
