"""Minimisation of a fit: least squares over the unknowns that vary, starts of windows eliminated, with a journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from pippin import SimulationError
from pippin.studies import RunProgress

from .candidates import JUDGED
from .identifiability import Identifiability, Minimum
from .journal import FitState, Journal
from .least_squares import DAMPING, LeastSquares, Point, Residuals, cost_of
from .problem import FitProblem, Rollouts


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

    Residuals have derivatives, shape [rows, unknowns], and derivatives by the starts of their windows, shape [rows,
    states]; the windows of the rows ascend. The starts that were used have the shape [windows, states].

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


_ROUNDS = 8
"""Most times that the starts of windows are linearised."""

_NOISY, _FALLS = 1.5, 0.95
"""Residual of a window that is not explained [σ], and ratio of its squares to those before that is still a fall."""


def unseen_starts(rollouts: Rollouts, values: np.ndarray, shifts: np.ndarray | None) -> np.ndarray | None:
    """Return the shifts of the starts with which candidates explain the windows that validate best, shape [`JUDGED`,
    windows, states], after a rollout for each number of a start, or several where the motion is not linear in them, as
    with friction that holds; None if no window validates.

    A candidate that diverges from the measured start of a window, or from one near it, keeps that start. Candidates
    have values, shape [`JUDGED`, values], and shifts in the windows that are fitted, shape [`JUDGED`, windows, states].
    """
    part, (scales, steps) = rollouts.parts[1], rollouts.state_scales()
    if not part.windows:
        return None
    windows = np.repeat(part.window_of, rollouts.width)
    found = np.zeros((JUDGED, len(part.windows), len(scales)))  # in units of the noise

    def residuals(starts: np.ndarray) -> np.ndarray:
        rollouts.roll_out(values, shifts=shifts, unseen=starts * scales)
        return rollouts.residuals(part)

    def squares(rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
        own = np.stack([np.bincount(windows, weights=each**2) for each in rows]) + (starts**2).sum(axis=2)
        return np.where(np.isfinite(own), own, np.inf)

    present, counts = residuals(found), np.bincount(windows)
    least = squares(present, found)
    for _ in range(_ROUNDS):
        moved = np.stack([residuals(found + shift) for shift in np.diag(steps)])
        best, before = found.copy(), least
        for candidate, rows in enumerate(present):
            by_start = (moved[:, candidate] - rows) / steps[:, None]
            is_finite = np.isfinite(by_start).all(axis=0)
            own = np.flatnonzero(np.bincount(windows, weights=~is_finite) == 0)
            kept = np.isin(windows, own)
            ranks = np.searchsorted(own, windows[kept])
            used, none = found[candidate, own], np.zeros((kept.sum(), 0))
            best[candidate, own] = eliminate(rows[kept], none, by_start[:, kept].T, ranks, used)[2]
        for share in (1.0, 0.5):  # half of the step where the whole one makes it worse
            trial = found + share * (best - found)
            rows = residuals(trial)
            now = squares(rows, trial)
            is_better = now < least
            found, least = np.where(is_better[..., None], trial, found), np.where(is_better, now, least)
            if is_better.all():
                break
        if not ((least > _NOISY**2 * counts) & (least < _FALLS * before)).any():
            break
        present, steps = residuals(found), np.maximum(0.5 * steps, 1.0)
    return found * scales


class EstimatedStarts:
    """Residuals of a search whose windows start where they fit best; the search does not know of the starts.

    The rollouts have one more candidate for each state of a start. `whole` returns the values of all parameters, shape
    [points, values], from points of the search; `used` are the starts of the first point, shape [windows, states].
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


DIVERGES = "fit: the simulation diverges with the values of the file; shorten simulation.dt, or start from others"

_FLOOR = 0.03
"""Residual at which a search ends, in units of the noise that the logs show: below it, single precision rounds."""


class Minimisation:
    """The least squares of a fit; if it is resumed, the state comes from an earlier run, whose search continues."""

    def __init__(self, problem: FitProblem, state: FitState, journal: Journal | None, *, is_resumed: bool) -> None:
        self._problem, self._state, self._journal = problem, state, journal
        self._earlier = attrs.evolve(state) if is_resumed else None
        self._starts: EstimatedStarts | None = None
        #: The best point of the present search; None before its first rollout.
        self.minimum: Minimum | None = None

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> Minimum:
        """Lower the cost over the free unknowns, and return the minimum."""
        state, (earlier, self._earlier), most = self._state, (self._earlier, None), self._problem.table.iterations
        is_over = earlier is not None and earlier.is_over(most)
        state.ended = ""
        residuals = self._from_starts(state.unknowns, state.is_free, stop_if_asked, earlier)
        damping, taken = (DAMPING, 0) if earlier is None else (earlier.damping, earlier.taken)
        method = self.method(residuals, state.is_free, damping, taken)
        for point in _named(method.iterate(state.unknowns[state.is_free], 0 if is_over else most)):
            self.minimum = _minimum(state.unknowns, state.is_free, point)
            state.unknowns = self.minimum.unknowns
            if earlier is None or method.taken > earlier.taken:
                state.costs.append(float(np.sqrt(2.0 * point.cost / len(point.residuals))))
                self._note(method, method.ended)
            progress.update(f"{method.taken} of {most}, residual {state.costs[-1]:.4g} σ")
        assert self.minimum is not None, "a search yields its start"
        self._note(method, earlier.ended if earlier is not None and is_over else method.ended)
        self.minimum = self._refined(self.minimum, method)
        return self.minimum

    def linearise(self, unknowns: np.ndarray, is_free: np.ndarray, *, is_refined: bool = True) -> Minimum:
        """Return the residuals at some unknowns and their derivatives by the free ones, after one rollout, which must
        not diverge; after another one if derivatives of second order are needed.
        """
        starts = self._starts
        method = self.method(self._from_starts(unknowns, is_free, lambda: None, None), is_free)
        found = _minimum(unknowns, is_free, next(_named(method.iterate(unknowns[is_free], 1))))
        found = self._refined(found, method) if is_refined else found
        self._starts = starts
        return found

    def shifts(self) -> np.ndarray | None:
        """Return the shifts of the measured starts with the values of the file and with the present ones, shape [2,
        windows, states]; None if windows start as measured.
        """
        if self._starts is None or self._starts.best is None:
            return None
        found = self._starts.best.best * self._problem.rollouts.state_scales()[0]
        return np.stack([np.zeros_like(found), found])

    def residuals(
        self, rollouts: Rollouts, unknowns: np.ndarray, is_free: np.ndarray, stop_if_asked: Callable[[], None]
    ) -> Residuals:
        """Return the residuals as a function of the free unknowns, or of all, with measured starts."""
        values, priors = self._values(unknowns, is_free, stop_if_asked), self._problem.unknowns.priors
        return lambda points: rollouts.evaluate(values(points), *priors)

    def method(
        self, residuals: Residuals, is_free: np.ndarray, damping: float = DAMPING, taken: int = 0
    ) -> LeastSquares:
        """Return the least squares over the free unknowns."""
        table, unknowns = self._problem.table, self._problem.unknowns
        options: dict[str, Any] = {"is_robust": table.is_robust, "tolerance": table.tolerance}
        options |= {"is_ratio": unknowns.is_ratio[is_free], "damping": damping, "taken": taken}
        if not any(signal.std for signal in table.signals.values()):
            options["floor"] = _FLOOR
        return LeastSquares(residuals, unknowns.low[is_free], unknowns.high[is_free], **options)

    def _from_starts(
        self, unknowns: np.ndarray, is_free: np.ndarray, stop_if_asked: Callable[[], None], earlier: FitState | None
    ) -> Residuals:
        problem = self._problem
        if problem.table.start == "measured":
            return self.residuals(problem.rollouts, unknowns, is_free, stop_if_asked)
        best = None if self._starts is None else self._starts.best
        self._starts = EstimatedStarts(
            problem.rollouts,
            self._values(unknowns, is_free, stop_if_asked),
            problem.unknowns.priors,
            is_robust=problem.table.is_robust,
            used=earlier.starts if earlier is not None else None if best is None else best.best,
        )
        return self._starts

    def _values(
        self, unknowns: np.ndarray, is_free: np.ndarray, stop_if_asked: Callable[[], None]
    ) -> Callable[[np.ndarray], np.ndarray]:

        def values(points: np.ndarray) -> np.ndarray:
            stop_if_asked()
            whole = points
            if points.shape[1] < len(is_free):
                whole = np.tile(unknowns, (len(points), 1))
                whole[:, is_free] = points
            return self._problem.unknowns.values(whole)

        return values

    def _refined(self, minimum: Minimum, method: LeastSquares) -> Minimum:
        """Return a minimum, with derivatives of second order if values look correlated: the correlation may be an error
        of the derivatives.
        """
        if not minimum.is_free.any() or not Identifiability(self._problem, minimum).evidence.is_coupled:
            return minimum
        return attrs.evolve(minimum, point=method.refine(minimum.point))

    def _note(self, method: LeastSquares, ended: str) -> None:
        best = None if self._starts is None else self._starts.best
        self._state.starts = np.zeros((0, 0)) if best is None else best.used
        self._state.damping, self._state.taken, self._state.ended = method.damping, method.taken, ended
        if self._journal is not None:
            self._journal.save(self._state)


def _minimum(unknowns: np.ndarray, is_free: np.ndarray, point: Point) -> Minimum:
    unknowns = unknowns.copy()
    unknowns[is_free] = point.x
    return Minimum(unknowns=unknowns, is_free=is_free, point=point)


def _named(points: Iterator[Point]) -> Iterator[Point]:
    try:
        yield from points
    except FloatingPointError as error:
        raise SimulationError(DIVERGES) from error
