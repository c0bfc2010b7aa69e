"""Draws the series of a run. Imports Matplotlib, which the extra `pippin[plot]` installs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pippin.recording.series import Series

__all__ = ["plot_series"]

_LEGEND_MAX = 10
"""Largest number of lines that get a legend."""

_TITLES = {"joint_q": "joint positions"}

_SKIPPED = ("time", "joint_qd")
"""Series without a panel: velocities add little to positions, and would double the size of the picture."""


@attrs.frozen(kw_only=True, eq=False)
class _Panel:
    """Lines that share an axis because they have the same unit."""

    title: str
    unit: str
    names: tuple[str, ...]
    values: np.ndarray
    """Shape [steps, lines]."""


def plot_series(series: Mapping[str, Series]) -> Figure:
    """Return a figure of the first recorded world: a panel for each series and unit, over simulated time."""
    time = series["time"].values
    panels = [panel for name, one in series.items() if name not in _SKIPPED for panel in _panels(name, one)]
    figure = Figure(figsize=(10, 0.8 + 2.1 * max(len(panels), 1)), dpi=110, layout="constrained")
    axes = figure.subplots(max(len(panels), 1), 1, sharex=True, squeeze=False)[:, 0]
    for axis, panel in zip(axes, panels, strict=False):
        _draw(axis, panel, time)
    axes[-1].set_xlabel("time [s]")
    figure.align_ylabels(axes)
    return figure


def _panels(name: str, series: Series) -> Iterator[_Panel]:
    """Split the first world's lines of a series by unit; quaternions and targets are left out."""
    if name.endswith("_targets") or not series.values.size:
        return
    names, values = _lines(series)
    units = series.units if len(series.units) == len(names) else (series.units or ("",)) * len(names)
    title = _TITLES.get(name, name.split("/", 1)[-1].replace("/", ": ").replace("_", " "))
    for unit in sorted(set(units) - {"1"}):
        chosen = [index for index, own in enumerate(units) if own == unit]
        yield _Panel(title=title, unit=unit, names=tuple(names[index] for index in chosen), values=values[:, chosen])


def _lines(series: Series) -> tuple[tuple[str, ...], np.ndarray]:
    """Return names and values of the first world, shape [steps, lines]; several vectors give their lengths."""
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


def _draw(axis: Axes, panel: _Panel, time: np.ndarray) -> None:
    count = len(panel.names)
    colors = (
        colormaps["tab10"](range(count)) if count <= _LEGEND_MAX else colormaps["viridis"](np.linspace(0, 1, count))
    )
    for name, color, values in zip(panel.names, colors, panel.values.T, strict=True):
        axis.plot(time, values, label=name, color=color, linewidth=1.1)
    axis.set_title(panel.title, loc="left", fontsize=10)
    axis.set_ylabel(f"[{panel.unit}]" if panel.unit else "")
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(x=0.0)
    if 1 < count <= _LEGEND_MAX:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
