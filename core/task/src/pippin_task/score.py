"""The score of a task: returns, lengths and ends of its episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

INTERVAL = 1.96
"""Half width of a 95 % interval of a normal distribution, in standard deviations."""


@attrs.frozen(eq=False)
class Score:
    """Sums over episodes, which scores of other worlds or of earlier steps are added to or subtracted from."""

    rewards: tuple[str, ...]
    terminations: tuple[str, ...]
    metrics: tuple[str, ...]
    totals: np.ndarray
    """The sums of `EpisodeBuffers.totals` over worlds, shape [rows]."""
    unfinished: np.ndarray
    """Of episodes that have begun and not ended: their number, and the sums of their lengths and of their returns."""

    @classmethod
    def of(cls, episodes: Any, rewards: Sequence[str], terminations: Sequence[str], metrics: Sequence[str]) -> Score:
        """Return the score of all worlds so far, from `EpisodeBuffers`; waits for the device."""
        lengths, returns = episodes.length.numpy(), episodes.episode_return.numpy()
        running = (lengths > 0) & ~episodes.waiting.numpy()
        unfinished = np.array([running.sum(), lengths[running].sum(), returns[running].sum()], dtype=float)
        labels = tuple(rewards), tuple(terminations), tuple(metrics)
        return cls(*labels, episodes.totals.numpy().sum(axis=1), unfinished)

    def since(self, earlier: Score) -> Score:
        """Return the score without the episodes that another one has already."""
        return attrs.evolve(self, totals=self.totals - earlier.totals)

    def __add__(self, other: Score) -> Score:
        return attrs.evolve(self, totals=self.totals + other.totals, unfinished=self.unfinished + other.unfinished)

    def plain(self) -> dict[str, Any]:
        """Return the score as plain data; see `Task.score`."""
        count, length, total, square, *terms = self.totals.tolist()
        worlds, own_length, own_return = self.unfinished.tolist()
        first = len(terms) - 2 * len(self.metrics)
        *ends, diverged, truncated, timed_out = terms[len(self.rewards) : first]
        mean, spread, half_width = _spread(total, square, count)
        pairs = zip(terms[first::2], terms[first + 1 :: 2], strict=True)
        metrics = [dict(zip(("mean", "std", "half_width"), _spread(*each, count), strict=True)) for each in pairs]
        return {
            "episodes": int(count),
            "mean_return": mean,
            "std_return": spread,
            "mean_return_half_width": half_width,
            "mean_length": _mean(length, count),
            "terminated": int(count - truncated),
            "truncated": int(truncated),
            "timed_out": int(timed_out),
            "diverged": int(diverged),
            "terminations": dict(zip(self.terminations, map(int, ends), strict=True)),
            "rewards": {label: _mean(each, count) for label, each in zip(self.rewards, terms, strict=False)},
            "metrics": dict(zip(self.metrics, metrics, strict=True)),
            "unfinished": {
                "episodes": int(worlds),
                "mean_return": _mean(own_return, worlds),
                "mean_length": _mean(own_length, worlds),
            },
        }


def _mean(total: float, count: float) -> float | None:
    return total / count if count else None


def _spread(total: float, square: float, count: float) -> tuple[float | None, float | None, float | None]:
    """Return mean, standard deviation and half width of the mean's interval, from the sums of numbers and squares."""
    if not count:
        return None, None, None
    mean = total / count
    spread = max(0.0, square / count - mean**2) ** 0.5
    return mean, spread, INTERVAL * spread / (count - 1) ** 0.5 if count > 1 else None
