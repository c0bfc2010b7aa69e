"""Statistics of features, as LeRobot's policies normalise by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}

LEVELS = 256
"""Levels of a colour."""

Statistics = dict[str, np.ndarray]


def of_values(values: np.ndarray) -> Statistics:
    """Return the statistics of values, shape [frames, numbers]: each has shape [numbers]."""
    values = values.astype(float)
    found = {"min": values.min(axis=0), "max": values.max(axis=0), "mean": values.mean(axis=0)}
    quantiles = np.quantile(values, list(QUANTILES.values()), axis=0)
    found |= {"std": values.std(axis=0), "count": np.array([len(values)])}
    return found | dict(zip(QUANTILES, quantiles, strict=True))


def of_levels(histogram: np.ndarray, frame_count: int) -> Statistics:
    """Return the statistics of images from the counts of their levels, shape [3, levels]: from 0 to 1, [3, 1, 1]."""
    levels = np.arange(LEVELS) / (LEVELS - 1)
    total = histogram.sum(axis=1)
    mean = histogram @ levels / total
    variance = histogram @ levels**2 / total - mean**2
    shares = np.cumsum(histogram, axis=1) / total[:, None]
    found = {
        "min": levels[(histogram > 0).argmax(axis=1)],
        "max": levels[LEVELS - 1 - (histogram[:, ::-1] > 0).argmax(axis=1)],
        "mean": mean,
        "std": np.sqrt(np.maximum(variance, 0.0)),
    }
    found |= {name: levels[(shares >= share - 1e-12).argmax(axis=1)] for name, share in QUANTILES.items()}
    return {name: each.reshape(3, 1, 1) for name, each in found.items()} | {"count": np.array([frame_count])}


def joined(parts: Sequence[Mapping[str, np.ndarray]]) -> Statistics:
    """Return the statistics of several episodes together; quantiles are means, weighted by frames, as LeRobot's."""
    counts = np.array([int(part["count"][0]) for part in parts], dtype=float)
    weights = counts / counts.sum()

    def mean(values: Sequence[np.ndarray]) -> np.ndarray:
        return np.tensordot(weights, np.stack(values), axes=1)

    total = mean([part["mean"] for part in parts])
    variance = mean([part["std"] ** 2 + (part["mean"] - total) ** 2 for part in parts])
    found = {name: mean([part[name] for part in parts]) for name in QUANTILES}
    return {
        "min": np.min([part["min"] for part in parts], axis=0),
        "max": np.max([part["max"] for part in parts], axis=0),
        "mean": total,
        "std": np.sqrt(variance),
        "count": np.array([int(counts.sum())]),
        **found,
    }
