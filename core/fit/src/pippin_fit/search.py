"""Searches before the least squares: several starts side by side, and an evolution strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import attrs
import numpy as np
from pippin import SimulationError
from pippin.extras import import_library
from pippin.studies import RunProgress

from .journal import FitState, Journal, StartsState
from .least_squares import DAMPING, LeastSquares, Point, Residuals, cost_of
from .minimisation import DIVERGES, Minimisation
from .problem import FitProblem, Rollouts

_SPREAD = 1e-2
"""An evolution ends if the costs of a generation differ by no more than this share."""

_SIGMA = 0.3
"""Standard deviation of the first generation, as a share of the range."""

_FAILED = 1e300
"""Cost of a candidate that diverges: the ranks of a generation need a number."""


def latin_hypercube(count: int, low: np.ndarray, high: np.ndarray, seed: int) -> np.ndarray:
    """Return points between bounds, shape [count, unknowns]: each of `count` equal parts of a range has one of them."""
    random = np.random.default_rng(seed)
    parts = np.stack([random.permutation(count) for _ in low], axis=1)
    return low + (parts + random.uniform(size=parts.shape)) / count * (high - low)


@attrs.define(eq=False)
class _Track:
    method: LeastSquares
    x: np.ndarray
    cost: float
    steps: Any
    noted: tuple[float, int]
    """Damping and iterations at the best point: from there, the search continues to the same end."""
    asked: np.ndarray | None = None
    """Points that it waits for, shape [points, unknowns]; None at its end."""

    def proceed(self, answer: np.ndarray | None) -> None:
        """Continue until the next question, with the residuals of the last one."""
        self.asked = None
        try:
            item = self.steps.send(answer)
            while isinstance(item, Point):
                self.x, self.cost, self.noted = item.x, item.cost, (self.method.damping, self.method.taken)
                item = self.steps.send(None)
            self.asked = item
        except (StopIteration, FloatingPointError):
            return


class SeveralStarts:
    """Searches by least squares from several starts, shape [starts, unknowns], whose points are evaluated side by side,
    at most `slot` of each at once. `make` returns a method, given its damping and the iterations that it has taken;
    where an earlier run came to, they continue to the same ends.
    """

    def __init__(
        self,
        make: Callable[[float, int], LeastSquares],
        starts: np.ndarray,
        iterations: int,
        slot: int,
        earlier: StartsState | None = None,
    ) -> None:
        self._slot, self._starts = slot, starts
        self._tracks: list[_Track] = []
        for number, start in enumerate(starts):
            x, cost, damping, taken, is_over = start, np.inf, DAMPING, 0, False
            if earlier is not None:
                x, cost, is_over = earlier.x[number], float(earlier.costs[number]), bool(earlier.is_over[number])
                damping, taken = float(earlier.dampings[number]), int(earlier.taken[number])
            method = make(damping, taken)
            steps = iter(()) if is_over else method.proceed(x, iterations)
            track = _Track(method=method, x=x, cost=cost, steps=steps, noted=(damping, taken))
            if not is_over:
                track.proceed(None)
            self._tracks.append(track)

    @property
    def running(self) -> int:
        """Number of searches that continue."""
        return sum(track.asked is not None for track in self._tracks)

    @property
    def cost(self) -> float:
        """The lowest cost so far."""
        return min(track.cost for track in self._tracks)

    def state(self) -> StartsState:
        """Return how far the searches are."""
        rows = [(track.x, track.cost, *track.noted, track.asked is None) for track in self._tracks]
        x, costs, dampings, taken, is_over = map(np.array, zip(*rows, strict=True))
        return StartsState(x=x, costs=costs, dampings=dampings, taken=taken, is_over=is_over)

    def ends(self) -> list[tuple[float, np.ndarray]]:
        """Return cost and place of the best point of each search that starts well, the best one first."""
        found = [(track.cost, track.x) for track in self._tracks if np.isfinite(track.cost)]
        return sorted(found, key=lambda end: end[0])

    def run(self, residuals: Residuals, note: Callable[[], None]) -> None:
        """Search until all end; `note` is called after each evaluation of points, shape [starts * slot, unknowns]."""
        while self.running:
            batch = np.repeat(self._starts, self._slot, axis=0)  # a search keeps its worlds, whatever others do
            for number, track in enumerate(self._tracks):
                if track.asked is not None:
                    batch[number * self._slot :][: len(track.asked)] = track.asked
            rows = residuals(batch)
            for number, track in enumerate(self._tracks):
                if track.asked is not None:
                    track.proceed(rows[number * self._slot :][: len(track.asked)])
            note()


def population_of(unknowns: int) -> int:
    """Return the size of a generation that Hansen recommends."""
    return 4 + int(3 * np.log(unknowns))


class Evolution:
    """The covariance matrix adaptation evolution strategy (CMA-ES) of Hansen between bounds, by the library `cmaes`.

    The mean of the first generation is the start, shape [unknowns]. Whole numbers, whose neighbours have a distance in
    `steps`, which is 0 for others, keep a probability of these neighbours (with margin, Hamano et al. 2022).
    """

    def __init__(
        self, start: np.ndarray, low: np.ndarray, high: np.ndarray, steps: np.ndarray, *, seed: int, population: int
    ) -> None:
        library = import_library("cmaes", "fit")
        width = high - low
        self._low, self._width = low, width
        self._has_whole = bool((steps > 0.0).any())
        options: dict[str, Any] = {"bounds": np.tile([0.0, 1.0], (len(low), 1)), "seed": seed}
        mean = (start - low) / width
        if self._has_whole:
            options["steps"] = steps / width
        kind = library.CMAwM if self._has_whole else library.CMA
        self._method: Any = kind(mean=mean, sigma=_SIGMA, population_size=population, **options)
        #: The best point so far, and its cost.
        self.best: np.ndarray = start
        self.cost: float = np.inf
        #: Costs of each generation so far, shape [population].
        self.history: list[np.ndarray] = []

    def run(
        self,
        costs: Callable[[np.ndarray], np.ndarray],
        generations: int,
        note: Callable[[], None],
        earlier: Sequence[np.ndarray] = (),
    ) -> None:
        """Draw generations, shape [population, unknowns], until their costs agree, shape [population].

        The costs of `earlier` generations come from an earlier run: with the same seed, it drew the same ones.
        """
        for generation in range(generations):
            asked = [self._method.ask() for _ in range(self._method.population_size)]
            shown, drawn = zip(*asked, strict=True) if self._has_whole else (asked, asked)
            points = self._low + np.stack(shown) * self._width
            own = earlier[generation] if generation < len(earlier) else costs(points)
            found = np.where(np.isfinite(own), own, _FAILED)
            self._method.tell(list(zip(drawn, found.tolist(), strict=True)))
            self.history.append(own)
            if found.min() < self.cost:
                self.cost, self.best = float(found.min()), points[int(found.argmin())]
            note()
            if np.ptp(found) <= _SPREAD * found.min() or self._method.should_stop():
                return


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
            with closing(Rollouts(problem.material, count * problem.slot)) as rollouts:
                several.run(self._residuals(rollouts, stop_if_asked), note)
        if not (ends := several.ends()):
            raise SimulationError(DIVERGES)
        return ends

    def _evolve(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> np.ndarray:
        problem, table, unknowns = self._problem, self._problem.table, self._problem.unknowns
        steps = unknowns.is_whole / (unknowns.ranges[:, 1] - unknowns.ranges[:, 0])
        population = population_of(len(steps))
        start, low, high = self._state.unknowns, unknowns.low, unknowns.high
        method = Evolution(start, low, high, steps, seed=table.seed, population=population)
        with closing(Rollouts(problem.material, population)) as rollouts:
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
