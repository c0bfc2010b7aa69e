"""Plot of the series of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from .figure import Curve, Panel, figure
from .recorder import Series

__all__ = ["panels_of", "plot_series"]

_LEGEND_MAX = 10
"""More lines than this are not named."""

_TITLES = {"joint_q": "joint positions"}

_SKIPPED = ("time", "joint_qd")
"""Series that have no panel: velocities say little beside positions, and would double the picture."""


def plot_series(series: Mapping[str, Series]) -> str:
    """Return the first recorded world as SVG: a panel for each series and unit, over simulated time."""
    return figure(panels_of(series), "time [s]")


def panels_of(series: Mapping[str, Series]) -> list[Panel]:
    """Return a panel for each series and unit; quaternions and targets are left out."""
    time = series["time"].values
    return [panel for name, one in series.items() if name not in _SKIPPED for panel in _panels(name, one, time)]


def _panels(name: str, series: Series, time: np.ndarray) -> Iterator[Panel]:
    if name.endswith("_targets") or not series.values.size:
        return
    names, values = _lines(series)
    units = series.units if len(series.units) == len(names) else (series.units or ("",)) * len(names)
    title = _TITLES.get(name, name.split("/", 1)[-1].replace("/", ": ").replace("_", " "))
    for unit in sorted(set(units) - {"1"}):
        chosen = [index for index, own in enumerate(units) if own == unit]
        curves = [Curve(label=names[line], x=time, y=values[:, line], index=index) for index, line in enumerate(chosen)]
        has_legend = 1 < len(curves) <= _LEGEND_MAX
        yield Panel(title=title, unit=unit, curves=tuple(curves), has_legend=has_legend)


def _lines(series: Series) -> tuple[tuple[str, ...], np.ndarray]:
    """Return names and values, shape [steps, lines], of the first world; of several vectors, their lengths."""
    values = series.values[:, 0]
    is_vector = values.ndim > 1 and values.shape[-1] == 3 and not series.labels
    if is_vector and values[0].size == 3:
        return ("x", "y", "z"), values.reshape(-1, 3)
    if is_vector:
        values = np.linalg.norm(values, axis=-1)
    values = values.reshape(len(values), -1)
    return tuple(label.rsplit("/", 1)[-1] for label in series.labels) or _numbers(values.shape[1]), values


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(index) for index in range(count))
