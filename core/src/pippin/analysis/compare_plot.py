"""Plot of a comparison of solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .compare import Result
from .figure import Bars, Curve, Panel, figure

__all__ = ["plot_comparison"]

_PANELS = {
    "energy": ("change of mechanical energy", "J"),
    "distance": ("distance to the reference", "m"),
    "joint_gap": ("joint gap", "m"),
    "penetration": ("penetration", "m"),
}
"""Series over time, with their titles and units."""


def plot_comparison(results: Sequence[Result], reference: str) -> str:
    """Return the solvers that ran as SVG: throughput, and what was measured over time, of the worst world."""
    ran = {index: result for index, result in enumerate(results) if result.series}
    names = [name for name in _PANELS if any(name in result.series for result in ran.values())]
    speeds = {one.solver: (index, one.world_steps_per_second or 0.0) for index, one in ran.items()}
    bars = Bars(title="world-steps per second", values=speeds)
    return figure([bars, *(_panel(name, ran, reference) for name in names)], "time [s]")


def _panel(name: str, results: Mapping[int, Result], reference: str) -> Panel:
    title, unit = _PANELS[name]
    worst = {index: _worst(name, result) for index, result in results.items() if name in result.series}
    curves = [
        Curve(
            label=results[index].solver,
            x=results[index].series["time"].values[: len(values)],
            y=values,
            index=index,
            is_dashed=True,
        )
        for index, values in worst.items()
    ]
    ends = [values.max() for index, values in worst.items() if results[index].outcome == "finished"]
    largest = float(max(ends, default=0.0))
    return Panel(
        title=title.replace("the reference", reference),
        unit=unit,
        curves=tuple(curves),
        is_logarithmic=True,
        largest=3.0 * largest if largest > 0.0 else None,  # what diverges leaves the picture
    )


def _worst(name: str, result: Result) -> np.ndarray:
    """Return a series of the worst world at each sample; of energy, how far it is from the first one."""
    values = result.series[name].values
    values = np.abs(values - values[0]) if name == "energy" else values
    return values if values.ndim == 1 else values.max(axis=1)
