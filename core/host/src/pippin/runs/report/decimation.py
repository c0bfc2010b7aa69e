"""Reduction of long series to as many columns as a chart has pixels, so that no peak is lost."""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs
import numpy as np

COLUMNS = 640
"""Columns of a chart. A series with at most two rows for each is kept as it is."""

_BLOCK = 1 << 20
"""Largest number of values that are read at once."""


@attrs.frozen(kw_only=True, eq=False)
class Extremes:
    """The rows of some lines, or the smallest and the largest value in each column."""

    values: np.ndarray
    """Shape [worlds, lines, columns, 1 or 2]; NaN where no value is finite."""

    gaps: np.ndarray
    """Number of values that are not finite, shape [worlds, lines]."""


def column_times(time: np.ndarray) -> np.ndarray:
    """Return the time in the middle of each column, shape [columns]; of each row, if the rows are kept."""
    if len(time) <= 2 * COLUMNS:
        return time.astype(np.float64)
    bounds = _bounds(len(time))
    return (time[bounds[:-1]] + time[bounds[1:] - 1]) / 2.0


def extremes(read: Callable[[slice], np.ndarray], row_count: int, width: int) -> Extremes:
    """Return the extremes of rows that are read in blocks of shape [rows, worlds, lines].

    There is at least one row; it takes `width` values to make one.
    """
    is_kept = row_count <= 2 * COLUMNS
    bounds = np.arange(row_count + 1) if is_kept else _bounds(row_count)
    shape = read(slice(0, 1)).shape[1:]
    stride = max(1, int(_BLOCK / max(1, width) * (len(bounds) - 1) / row_count))
    parts, gaps = [], np.zeros(math.prod(shape), int)
    for first in range(0, len(bounds) - 1, stride):
        chosen = bounds[first : first + stride + 1]
        block = read(slice(int(chosen[0]), int(chosen[-1])))
        lines = np.ascontiguousarray(block.reshape(len(block), -1).T)  # each line in one piece: five times as fast
        finite = np.isfinite(lines)
        if not finite.all():
            gaps += (~finite).sum(axis=1)
            lines = np.where(finite, lines, np.nan)
        starts = chosen[:-1] - chosen[0]
        kept = (
            (lines,) if is_kept else (np.fmin.reduceat(lines, starts, axis=1), np.fmax.reduceat(lines, starts, axis=1))
        )
        parts.append(np.stack(kept, axis=-1))
    values = np.concatenate(parts, axis=1)
    return Extremes(values=values.reshape(*shape, *values.shape[1:]), gaps=gaps.reshape(shape))


def _bounds(row_count: int) -> np.ndarray:
    """Return the first row of each column, and the end of the last one."""
    return np.linspace(0, row_count, COLUMNS + 1).astype(int)
