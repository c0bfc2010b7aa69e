"""Minimisation of a fit by least squares over the unknowns that vary, with a journal of its iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from pippin import SimulationError
from pippin.studies import RunProgress

from .estimated_starts import EstimatedStarts
from .identifiability import Identifiability, Minimum
from .journal import FitState, Journal
from .least_squares import DAMPING, LeastSquares, Point, Residuals
from .problem import FitProblem
from .rollouts import Rollouts

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
        """Return the residuals at some unknowns and their derivatives by the free ones, after one rollout; after
        another one if derivatives of second order are needed.

        Raises:
            SimulationError: The simulation diverges.
        """
        starts = self._starts
        method = self.method(self._from_starts(unknowns, is_free, _never, None), is_free)
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
        self,
        unknowns: np.ndarray,
        is_free: np.ndarray,
        stop_if_asked: Callable[[], None],
        earlier: FitState | None,
    ) -> Residuals:
        """Return the residuals as a function of the free unknowns, with the starts of windows of the table."""
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
        """Return the values of all parameters as a function of the free unknowns, or of all."""

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
        """Update the state of the search, and write it into the journal."""
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
    """Yield points; a start that diverges is an error of the simulation."""
    try:
        yield from points
    except FloatingPointError as error:
        raise SimulationError(DIVERGES) from error


def _never() -> None:
    """Stop nothing."""
