"""Exploration of the ranges before the least squares: from several starts, or by an evolution strategy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pippin import SimulationError
from pippin.studies import RunProgress

from .journal import FitState, Journal
from .least_squares import LeastSquares, cost_of
from .minimisation import DIVERGES, Minimisation
from .problem import FitProblem
from .rollouts import Rollouts
from .search import Evolution, SeveralStarts, latin_hypercube, population_of

_MARGIN = 0.05
"""Distance of the starts from the bounds, as a share of the range."""


class Exploration:
    """The search for a start of the least squares."""

    def __init__(
        self, problem: FitProblem, state: FitState, journal: Journal | None, minimisation: Minimisation
    ) -> None:
        self._problem, self._state, self._journal, self._minimisation = problem, state, journal, minimisation

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Find a start with a lower cost, by the method of the table."""
        state, table = self._state, self._problem.table
        if table.method == "least-squares" and table.starts == 1:
            return
        rows = self._residuals(self._problem.rollouts, stop_if_asked)(state.unknowns[None])[0]
        state.costs.append(float(np.sqrt(2.0 * cost_of(rows, is_robust=table.is_robust) / len(rows))))
        if table.method == "cmaes":
            state.unknowns = self._evolve(progress, stop_if_asked)
        else:
            ends = self._start_often(progress, stop_if_asked)
            state.unknowns = ends[0][1]
            state.ends = tuple(float(np.sqrt(2.0 * cost / len(rows))) for cost, _ in ends)

    def _residuals(self, rollouts: Rollouts, stop_if_asked: Callable[[], None]) -> Callable[[np.ndarray], np.ndarray]:
        state = self._state
        return self._minimisation.residuals(rollouts, state.unknowns, state.is_free, stop_if_asked)

    def _start_often(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> list[tuple[float, np.ndarray]]:
        """Return cost and place of the end of each of several searches, the lowest first."""
        problem, state = self._problem, self._state
        count, low, high = problem.table.starts, problem.unknowns.low, problem.unknowns.high
        margin = _MARGIN * (high - low)
        others = latin_hypercube(count - 1, low + margin, high - margin, problem.table.seed)
        starts = np.concatenate([state.unknowns[None], others])
        earlier = None if self._journal is None else self._journal.starts()

        def make(damping: float, taken: int) -> LeastSquares:
            residuals = self._residuals(problem.rollouts, stop_if_asked)
            return self._minimisation.method(residuals, state.is_free, damping, taken)

        several = SeveralStarts(make, starts, problem.table.iterations, problem.slot, earlier)

        def note() -> None:
            if self._journal is not None:
                self._journal.save_starts(several.state())
            progress.update(f"{several.running} of {count} starts, cost {several.cost:.4g}")

        if several.running:
            with Rollouts(problem.material, count * problem.slot, problem.processes) as rollouts:
                several.run(self._residuals(rollouts, stop_if_asked), note)
        if not (ends := several.ends()):
            raise SimulationError(DIVERGES)
        return ends

    def _evolve(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> np.ndarray:
        """Return the best unknowns of an evolution."""
        problem, table, unknowns = self._problem, self._problem.table, self._problem.unknowns
        steps = unknowns.is_whole / (unknowns.ranges[:, 1] - unknowns.ranges[:, 0])
        population = population_of(len(steps))
        start, low, high = self._state.unknowns, unknowns.low, unknowns.high
        method = Evolution(start, low, high, steps, seed=table.seed, population=population)
        with Rollouts(problem.material, population, problem.processes) as rollouts:
            residuals = self._residuals(rollouts, stop_if_asked)

            def costs(points: np.ndarray) -> np.ndarray:
                return np.array([cost_of(rows, is_robust=table.is_robust) for rows in residuals(points)])

            def note() -> None:
                if self._journal is not None:
                    self._journal.save_explored(method.history)
                progress.update(f"generation {len(method.history)}, cost {method.cost:.4g}")

            earlier = () if self._journal is None else self._journal.explored()
            method.run(costs, table.generations, note, earlier)
        return method.best
