"""Searches before the least squares: several starts side by side, and an evolution strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from pippin.extras import import_library

from .least_squares import LeastSquares, Point, Residuals

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
    """One of several searches."""

    method: LeastSquares
    steps: Any
    point: Point | None = None
    asked: np.ndarray | None = None
    """Points that it waits for, shape [points, unknowns]; None at its end."""

    def proceed(self, answer: np.ndarray | None) -> None:
        """Continue until the next question, with the residuals of the last one."""
        self.asked = None
        try:
            item = self.steps.send(answer)
            while isinstance(item, Point):
                self.point = item
                item = self.steps.send(None)
            self.asked = item
        except (StopIteration, FloatingPointError):
            return


class SeveralStarts:
    """Searches by least squares from several starts, whose points are evaluated side by side.

    Args:
        methods: A method for each start.
        starts: The starts, shape [starts, unknowns].
        iterations: Largest number of iterations of each.
        slot: Most points that one of them asks for at once.
    """

    def __init__(self, methods: Sequence[LeastSquares], starts: np.ndarray, iterations: int, slot: int) -> None:
        self._slot, self._starts = slot, starts
        self._tracks = [
            _Track(method=method, steps=method.proceed(start, iterations))
            for method, start in zip(methods, starts, strict=True)
        ]

    def run(self, residuals: Residuals, note: Callable[[int, float], None]) -> list[Point]:
        """Return the end of each search, the best one first; those that diverge at their start are left out.

        Args:
            residuals: The residuals of points, shape [starts * slot, unknowns].
            note: Called after each evaluation, with the number of searches that continue and the lowest cost.
        """
        for track in self._tracks:
            track.proceed(None)
        while any(track.asked is not None for track in self._tracks):
            batch = np.repeat(self._starts, self._slot, axis=0)  # a search keeps its worlds, whatever others do
            for number, track in enumerate(self._tracks):
                if track.asked is not None:
                    batch[number * self._slot :][: len(track.asked)] = track.asked
            rows = residuals(batch)
            for number, track in enumerate(self._tracks):
                if track.asked is not None:
                    track.proceed(rows[number * self._slot :][: len(track.asked)])
            lowest = min((track.point.cost for track in self._tracks if track.point is not None), default=np.inf)
            note(sum(track.asked is not None for track in self._tracks), lowest)
        return sorted((track.point for track in self._tracks if track.point is not None), key=lambda each: each.cost)


def population_of(unknowns: int) -> int:
    """Return the size of a generation that Hansen recommends."""
    return 4 + int(3 * np.log(unknowns))


class Evolution:
    """The covariance matrix adaptation evolution strategy (CMA-ES) of Hansen between bounds, by the library `cmaes`.

    Whole numbers keep a probability of their neighbours (with margin, Hamano et al. 2022).

    Args:
        start: The mean of the first generation, shape [unknowns].
        low: Lower bounds.
        high: Upper bounds.
        steps: Distance of neighbours of each unknown that is a whole number; 0 for others.
        seed: Seed of the draws.
        population: Candidates of a generation.
    """

    def __init__(
        self,
        start: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        steps: np.ndarray,
        *,
        seed: int,
        population: int,
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
        """Draw generations until their costs agree.

        Args:
            costs: The costs of points, shape [population], from shape [population, unknowns].
            generations: Most generations.
            note: Called after each generation.
            earlier: Costs of generations that an earlier run has evaluated: with the same seed, it drew the same ones.
        """
        for generation in range(generations):
            asked = [self._method.ask() for _ in range(self._method.population_size)]
            shown, told = zip(*asked, strict=True) if self._has_whole else (asked, asked)
            points = self._low + np.stack(shown) * self._width
            own = earlier[generation] if generation < len(earlier) else costs(points)
            found = np.where(np.isfinite(own), own, _FAILED)
            self._method.tell(list(zip(told, found.tolist(), strict=True)))
            self.history.append(own)
            if found.min() < self.cost:
                self.cost, self.best = float(found.min()), points[int(found.argmin())]
            note()
            if np.ptp(found) <= _SPREAD * found.min() or self._method.should_stop():
                return
