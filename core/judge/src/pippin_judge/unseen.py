"""Errors of candidates in logs that no fit has seen: residuals by blocks, their size, and comparisons in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import attrs
import numpy as np
from pippin_fit import FitResult, Trace, is_worse

_DRAWS = 2000

_WANTED = 24
"""Number of blocks; fewer windows are divided."""

_ENDS = (0.025, 0.975)
"""Ends of an interval of 95 %."""


@attrs.frozen(kw_only=True, eq=False)
class BlockErrors:
    """Errors of a fit in windows, by blocks; candidates of the same logs have the same blocks."""

    squares: np.ndarray
    """Sum of the squared residuals [σ²], shape [blocks]."""

    counts: np.ndarray
    """Number of residuals, shape [blocks]."""

    places: tuple[tuple[str, float], ...]
    """The log and the time [s] in the middle of each block."""

    distance: float
    """Root mean square of the differences of positions [rad or m]."""

    @classmethod
    def of(cls, result: FitResult, column: int = 2, *, is_seen: bool = False) -> BlockErrors:
        """Return the errors of a fit in what it did not see, or in what it saw. The column of its traces is 1 for the
        values of the file.
        """
        traces = sorted((each for each in result.traces if each.is_validation != is_seen), key=_window)
        windows = [list(group) for _, group in groupby(traces, key=_window)]
        pieces = max(1, -(-_WANTED // max(len(windows), 1)))
        squares, counts, places = [], [], []
        for window in windows:
            rows = np.stack([_residuals(each, result, column) for each in window], axis=1)
            middles = np.array_split(window[0].times, pieces)
            for part, times in zip(np.array_split(rows, pieces), middles, strict=True):
                if len(part):
                    squares.append(float((part**2).sum()))
                    counts.append(part.size)
                    places.append((window[0].log, float(times.mean())))
        gaps = [each.values[:, column] - each.values[:, 0] for each in traces if each.signal == "position"]
        distance = float(np.sqrt((np.concatenate(gaps) ** 2).mean())) if gaps else float("nan")
        return cls(squares=np.array(squares), counts=np.array(counts), places=tuple(places), distance=distance)

    @property
    def error(self) -> float:
        """Root mean square of the residuals [σ]; infinite if the simulation diverges."""
        found = float(np.sqrt(self.squares.sum() / self.counts.sum()))
        return found if np.isfinite(found) else float("inf")

    def draws(self, seed: int) -> np.ndarray:
        """Return the error of random samples of the blocks, shape [draws]: for the same seed, the same samples of each
        candidate (Künsch 1989).
        """
        count = len(self.counts)
        weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1.0 / count), size=_DRAWS)
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(np.sqrt((weights @ self.squares) / (weights @ self.counts)), nan=np.inf)

    def interval(self, seed: int) -> tuple[float, float]:
        """Return the interval of the error that holds 95 % of the samples [σ]."""
        return _ends(self.draws(seed))

    def ratio(self, best: BlockErrors, seed: int) -> tuple[float, float]:
        """Return the interval of the ratio of the error to that of another candidate, in the same samples."""
        with np.errstate(invalid="ignore"):
            return _ends(np.nan_to_num(self.draws(seed) / best.draws(seed), nan=np.inf))

    def is_alike(self, best: BlockErrors, seed: int) -> bool:
        """Tell whether the candidate cannot be told apart from the best one: the interval of the ratio holds 1, or the
        error is larger by no more than 5 %, as in the verdict of a fit.
        """
        return self.ratio(best, seed)[0] <= 1.0 or not is_worse((best.error, self.error))


def _window(trace: Trace) -> tuple[str, float]:
    return trace.log, float(trace.times[0])


def _residuals(trace: Trace, result: FitResult, column: int) -> np.ndarray:
    noise = result.noise[trace.signal][result.joints.index(trace.joint)]
    return (trace.values[:, column] - trace.values[:, 0]) / noise


def _ends(draws: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(draws, _ENDS, method="nearest")
    return float(low), float(high)


def largest_loads(
    result: FitResult, stiffness: np.ndarray, damping: np.ndarray, joints: Sequence[str]
) -> tuple[np.ndarray, ...]:
    """Return the largest effort of springs, that of springs and dampers, and the largest speed in a fit, shape [joints]
    each; of a joint without a log, those of the others.
    """
    found = np.zeros((3, len(joints)))
    for trace in result.traces:
        if trace.signal == "position" and trace.joint in joints and len(trace.times) > 1:
            at = joints.index(trace.joint)
            speed = np.gradient(trace.values[:, 2], trace.times)
            pull = stiffness[at] * (trace.commanded - trace.values[:, 2])
            largest = [np.abs(each).max() for each in (pull, pull - damping[at] * speed, speed)]
            found[:, at] = np.maximum(found[:, at], largest)
    return tuple(np.where(each > 0.0, each, max(float(each.max()), 1e-6)) for each in found)
