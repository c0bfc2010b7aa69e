"""Draws a comparison of solvers. Imports Matplotlib, which the extra `pippin[plot]` installs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .compare import SolverRun

__all__ = ["plot_comparison"]

_PANELS = {
    "energy": "change of mechanical energy [J]",
    "distance": "distance to the reference [m]",
    "joint_gap": "joint gap [m]",
    "penetration": "penetration [m]",
}
"""Series over time, with their titles."""

_STYLES = ("-", "--", ":", "-.")
"""Line styles, one solver after the other: two curves on top of each other both stay visible."""


def plot_comparison(results: Sequence[SolverRun], reference: str) -> Figure:
    """Return a figure of the solvers that ran: throughput, and each series over time in its worst world."""
    ran = [result for result in results if result.series]
    panels = [name for name in _PANELS if any(name in result.series for result in ran)]
    rows = 1 + (len(panels) + 1) // 2
    figure = Figure(figsize=(10, 0.5 + 2.4 * rows), dpi=110, layout="constrained")
    grid = figure.add_gridspec(rows, 2)
    colors = {result.solver: f"C{index}" for index, result in enumerate(results)}
    _draw_throughput(figure.add_subplot(grid[0, :]), ran, colors)
    for index, name in enumerate(panels):
        axis = figure.add_subplot(grid[1 + index // 2, index % 2])
        _draw_series(axis, name, ran, colors)
        axis.set_title(_PANELS[name].replace("the reference", reference), loc="left", fontsize=10)
    return figure


def _draw_throughput(axis: Axes, results: Sequence[SolverRun], colors: dict[str, str]) -> None:
    timed = [result for result in results if result.world_steps_per_second is not None]
    speeds = [result.world_steps_per_second or 0.0 for result in timed]
    bars = axis.barh([result.solver for result in timed], speeds, color=[colors[one.solver] for one in timed])
    axis.bar_label(bars, labels=[f"{speed:,.0f}" for speed in speeds], padding=3, fontsize=8)
    axis.invert_yaxis()
    axis.margins(x=0.1)
    axis.set_title("world-steps per second", loc="left", fontsize=10)
    _tidy(axis)


def _draw_series(axis: Axes, name: str, results: Sequence[SolverRun], colors: dict[str, str]) -> None:
    largest, is_positive = 0.0, False
    for index, result in enumerate(results):
        if name in result.series:
            worst = _worst(name, result)
            if result.outcome == "finished":
                largest = max(largest, worst.max())
            is_positive = is_positive or bool(((worst > 0.0) & np.isfinite(worst)).any())
            time = result.series["time"].values[: len(worst)]
            style = _STYLES[index % len(_STYLES)]
            axis.plot(time, worst, style, label=result.solver, color=colors[result.solver], linewidth=1.1)
    axis.set_xlabel("time [s]")
    if is_positive:
        axis.set_yscale("log")
    if largest > 0.0:
        axis.set_ylim(top=3.0 * largest)  # a run that diverges leaves the picture
    axis.margins(x=0.0)
    axis.grid(alpha=0.25, linewidth=0.6)
    _tidy(axis)


def _worst(name: str, result: SolverRun) -> np.ndarray:
    """Return the largest value of all worlds at each sample; for the energy, the largest change since the first."""
    values = result.series[name].values
    values = np.abs(values - values[0]) if name == "energy" else values
    return values if values.ndim == 1 else values.max(axis=1)


def _tidy(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)
