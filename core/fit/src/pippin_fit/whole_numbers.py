"""Whole numbers of a fit: verdicts by comparison with their neighbours, and steps to better ones."""

from __future__ import annotations

import numpy as np

from .least_squares import STEP, Residuals
from .problem import FitProblem
from .verdicts import CHI_SQUARED, IDENTIFIED, UNOBSERVABLE, FitVerdict


class WholeNumbers:
    """The whole numbers among the unknowns of a fit."""

    def __init__(self, problem: FitProblem) -> None:
        self._problem = problem
        self._better: dict[int, float] = {}
        self._visited: set[tuple[float, ...]] = set()

    def judge(
        self, residuals: Residuals, unknowns: np.ndarray, is_free: np.ndarray, *, is_fitted: bool
    ) -> dict[int, FitVerdict]:
        """Return the verdict on each whole number, by its number: identified if both neighbours raise the cost clearly,
        each with its own best other values.

        The noise is that of the residuals if they are fitted, and otherwise the one that the fit assumes.
        """
        own, free, found = self._problem.unknowns, np.flatnonzero(is_free), {}
        ahead = np.where(unknowns + STEP <= own.high, STEP, -STEP)[free]
        samples, self._better = self._problem.sample_rows, {}
        for number in np.flatnonzero(own.is_whole).tolist():
            near = self._neighbours(number, unknowns)
            points = np.tile(unknowns, (1 + len(free) + len(near), 1))
            points[1 + np.arange(len(free)), free] += ahead
            points[1 + len(free) :, number] = near
            rows = residuals(points)
            present = rows[0] if is_fitted else np.zeros_like(rows[0])
            changes = rows[1:] - rows[0]
            changes[~np.isfinite(changes).all(axis=1)] = np.nan
            basis = np.linalg.qr(np.nan_to_num(changes[: len(free)]).T)[0]
            both = np.vstack([present, present + changes[len(free) :]]).T
            squares = ((both - basis @ (basis.T @ both)) ** 2).sum(axis=0)
            variance = squares[0] / max(samples - len(free), 1) if is_fitted else 1.0
            rise = np.nan_to_num(squares[1:] - squares[0], nan=np.inf)  # a neighbour that diverges is excluded
            found[number] = self._verdict(number, unknowns, bool((rise > CHI_SQUARED * variance).all()))
            if rise.min(initial=0.0) < -CHI_SQUARED * variance:
                self._better[number] = near[int(rise.argmin())]
        return found

    def step(self, unknowns: np.ndarray) -> np.ndarray | None:
        """Return unknowns with the neighbours that explain the logs better; None without any, or if these were visited
        before.
        """
        is_whole = self._problem.unknowns.is_whole
        self._visited.add(tuple(unknowns[is_whole].tolist()))
        moved = unknowns.copy()
        for number, unknown in self._better.items():
            moved[number] = unknown
        is_known = tuple(moved[is_whole].tolist()) in self._visited
        return None if not self._better or is_known else moved

    def _neighbours(self, number: int, unknowns: np.ndarray) -> list[float]:
        """Return the unknowns of the neighbours of a whole number within its range."""
        low, high = self._problem.unknowns.owners[number][0].config.range
        value = self._problem.unknowns.values(unknowns)[number]
        near = [each for each in (value - 1.0, value + 1.0) if low <= each <= high]
        return [(each - low) / (high - low) for each in near]

    def _verdict(self, number: int, unknowns: np.ndarray, is_identified: bool) -> FitVerdict:
        own = self._problem.unknowns
        parameter, name = own.owners[number]
        return FitVerdict(
            key=parameter.key,
            name=name,
            start=float(own.file_values[number]),
            value=float(own.values(unknowns)[number]),
            half_width=0.5 if is_identified else np.inf,
            verdict=IDENTIFIED if is_identified else UNOBSERVABLE,
            collinearity=0.0,
        )
