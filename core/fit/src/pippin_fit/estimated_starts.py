"""Estimated starts of windows: local unknowns that are eliminated from the least squares."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from .candidates import JUDGED
from .least_squares import cost_of
from .rollouts import Rollouts


@attrs.frozen(kw_only=True, eq=False)
class Elimination:
    """The best starts of all windows as a linear function of the unknowns, about a point.

    Starts are shifts of the measured state in units of its noise, shape [windows, states].
    """

    point: np.ndarray
    """The point, shape [unknowns]."""

    used: np.ndarray
    """The starts that the point was simulated with."""

    best: np.ndarray
    """The best starts at the point."""

    slopes: np.ndarray
    """Their change with the unknowns, shape [windows, states, unknowns]."""

    cost: float
    """Half of the sum of squares with the best starts."""

    def starts(self, x: np.ndarray) -> np.ndarray:
        """Return the best starts at other points, shape [points, windows, states], of points [points, unknowns]."""
        return self.best + np.einsum("wsu,pu->pws", self.slopes, x - self.point)


def eliminate(
    residuals: np.ndarray, by_unknown: np.ndarray, by_start: np.ndarray, windows: np.ndarray, used: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the residuals that are left if each window starts where it fits best.

    The residuals of a window, and the shifts of its start themselves, are projected on the complement of the
    effects of its start (variable projection in the form of Kaufman 1975, with shifts of standard normal distribution).

    Args:
        residuals: Residuals, shape [rows].
        by_unknown: Their derivatives, shape [rows, unknowns].
        by_start: Their derivatives by the starts of their windows, shape [rows, states].
        windows: The window of each row, in ascending order.
        used: The starts, shape [windows, states].

    Returns:
        The residuals that are left, shape [rows + windows * states], their derivatives, the best starts, and the change
        of these with the unknowns, shape [windows, states, unknowns].
    """
    count, states = used.shape
    left, slopes = residuals.copy(), by_unknown.copy()
    shift_rows, shift_slopes = np.zeros((count, states)), np.zeros((count, states, by_unknown.shape[1]))
    best, change = np.zeros_like(used), np.zeros((count, states, by_unknown.shape[1]))
    for window in range(count):
        rows = windows == window
        basis, triangle = np.linalg.qr(np.concatenate([by_start[rows], np.eye(states)]))
        whole = np.column_stack(
            [
                np.concatenate([residuals[rows], used[window]]),
                np.concatenate([by_unknown[rows], np.zeros((states, by_unknown.shape[1]))]),
            ]
        )
        inside = basis.T @ whole
        rest = whole - basis @ inside
        size = int(rows.sum())
        left[rows], slopes[rows] = rest[:size, 0], rest[:size, 1:]
        shift_rows[window], shift_slopes[window] = rest[size:, 0], rest[size:, 1:]
        steps = -np.linalg.solve(triangle, inside)
        best[window], change[window] = used[window] + steps[:, 0], steps[:, 1:]
    return (
        np.concatenate([left, shift_rows.ravel()]),
        np.concatenate([slopes, shift_slopes.reshape(count * states, slopes.shape[1])]),
        best,
        change,
    )


def unseen_starts(rollouts: Rollouts, values: np.ndarray, shifts: np.ndarray | None) -> np.ndarray | None:
    """Return the shifts of the starts with which candidates explain the windows that validate best, after a rollout for
    each number of a start; None if no window validates.

    A candidate that diverges from the measured start of a window, or from one near it, keeps that start.

    Args:
        rollouts: The simulation.
        values: The values of the candidates, shape [`JUDGED`, values].
        shifts: Shifts of the starts of the windows that are fitted, shape [`JUDGED`, windows, states].

    Returns:
        Shape [`JUDGED`, windows, states].
    """
    part, (scales, steps) = rollouts.parts[1], rollouts.state_scales()
    if not part.windows:
        return None
    found = np.zeros((JUDGED, len(part.windows), len(scales)))

    def residuals(shift: np.ndarray) -> np.ndarray:
        rollouts.roll_out(values, shifts=shifts, unseen=found + shift * scales)
        return rollouts.residuals(part)

    present = residuals(np.zeros(len(scales)))
    moved = np.stack([residuals(shift) for shift in np.diag(steps)])
    windows = np.repeat(part.window_of, rollouts.width)
    for candidate, rows in enumerate(present):
        by_start = (moved[:, candidate] - rows) / steps[:, None]
        is_finite = np.isfinite(by_start).all(axis=0)
        own = np.flatnonzero(np.bincount(windows, weights=~is_finite) == 0)
        kept = np.isin(windows, own)
        ranks = np.searchsorted(own, windows[kept])
        used = found[candidate, own]
        best = eliminate(rows[kept], np.zeros((kept.sum(), 0)), by_start[:, kept].T, ranks, used)[2]
        found[candidate, own] = best * scales
    return found


class EstimatedStarts:
    """Residuals of a search whose windows start where they fit best; the search does not know of the starts.

    Args:
        rollouts: The simulation, with one more candidate for each state of a start.
        whole: Returns the values of all parameters, shape [points, values], from points of the search.
        priors: Expected values, and the inverse of their variance.
        used: Starts of the first point, shape [windows, states]; by default the measured ones.
    """

    def __init__(
        self,
        rollouts: Rollouts,
        whole: Callable[[np.ndarray], np.ndarray],
        priors: tuple[np.ndarray, np.ndarray],
        *,
        is_robust: bool,
        used: np.ndarray | None = None,
    ) -> None:
        self._rollouts, self._whole, self._priors, self._is_robust = rollouts, whole, priors, is_robust
        part, width = rollouts.parts[0], rollouts.width
        self._windows = np.repeat(part.window_of, width)
        self._scales, self._steps = rollouts.state_scales()
        shape = (len(part.windows), len(self._scales))
        self._first = np.zeros(shape) if used is None or used.shape != shape else used
        #: The starts about the best point so far; None before the first one.
        self.best: Elimination | None = None

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the residuals of a point, of its neighbours, and of others, shape [points, rows]."""
        unknowns, states = points.shape[1], len(self._scales)
        starts = np.tile(self._first, (len(points), 1, 1)) if self.best is None else self.best.starts(points)
        starts[1 : 1 + unknowns] = starts[0]
        moved = starts[:1] + np.eye(states)[:, None, :] * self._steps
        batch = np.concatenate([points, np.tile(points[:1], (states, 1))])
        every = np.concatenate([starts, moved])
        rows = self._rollouts.evaluate(self._whole(batch), *self._priors, every * self._scales)
        size = len(self._windows)
        shifts = starts.reshape(len(points), -1)
        found = np.concatenate([rows[: len(points), :size], shifts, rows[: len(points), size:]], axis=1)
        near, by_start = rows[1 : 1 + unknowns, :size], rows[len(points) :, :size]
        if not (np.isfinite(near).all() and np.isfinite(by_start).all() and np.isfinite(rows[0]).all()):
            return found
        ahead = np.diagonal(points[1 : 1 + unknowns] - points[0])
        left, slopes, best, change = eliminate(
            rows[0, :size],
            ((near - rows[0, :size]) / ahead[:, None]).T,
            ((by_start - rows[0, :size]) / self._steps[:, None]).T,
            self._windows,
            starts[0],
        )
        kept = slice(0, len(left))
        found[0, kept] = left
        found[1 : 1 + unknowns, kept] = left + ahead[:, None] * slopes.T
        cost = cost_of(found[0], is_robust=self._is_robust)
        if self.best is None or cost < self.best.cost:
            self.best = Elimination(point=points[0], used=starts[0], best=best, slopes=change, cost=cost)
        return found
