"""Page of an optimisation: the loss before each iteration as a chart, the values, and the check of the gradient."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pippin.runs.report.chart import Axis, Chart, Line
from pippin.runs.report.markup import element, folded, heading, section, table
from pippin.runs.report.page import Charts, grid, page

from .result import OptimisationResult

_WORLDS, _LABELS, _VALUES = 8, 10, 24
"""Most worlds with a line of their own, labels of the axis, and values of a variable that are listed."""


def optimisation_page(file: str, result: OptimisationResult, config: str) -> str:
    """Return the page of an optimisation.

    Args:
        file: The configuration file.
        result: What was found.
        config: The configuration as TOML.
    """
    charts = Charts()
    tiles = {
        "loss": f"{result.loss:.4g}",
        "first loss": f"{result.losses[0].min():.4g}" if len(result.losses) else "none",
        **({"iterations": str(result.iterations)} if result.moves is None else {"moves": str(result.moves)}),
        "rollouts": str(result.rollouts),
        "wall time": f"{result.seconds:.1f} s",
    }
    heads = ("variable", "point", "values")
    checks = [
        (each.variable, each.world, f"{each.derivative:.6g}", f"{each.difference:.6g}") for each in result.comparisons
    ]
    body = [
        heading(f"Optimisation of {Path(file).name}", play_command(result), tiles),
        section("Loss", grid([charts.place(chart) for chart in _charts(result)]), element("p", f"{result.ended}.")),
        section("Values", element("p", _whose(result)), table(heads, _rows(result))),
        section(
            "Gradient at the start",
            table(("variable", "world", "by the gradient", "by two rollouts"), checks, numeric=2) if checks else None,
        ),
        section("Settings", folded("config.toml, with every default", element("pre", config))),
    ]
    return page(f"{Path(file).stem}: optimisation", body, charts)


def _whose(result: OptimisationResult) -> str:
    return f"Those of world {result.world}." if result.moves is None else "Those of the moves, one after the other."


def play_command(result: OptimisationResult) -> str:
    """Return the command that plays what was found."""
    return shlex.join(["pippin", "run", str(result.file)])


def _charts(result: OptimisationResult) -> Iterator[Chart]:
    count, worlds = result.losses.shape
    if not count:
        return
    shown = min(worlds, _WORLDS)
    stride = -(-count // _LABELS)
    numbers = list(range(count))
    best = np.argsort(result.losses[-1], kind="stable")[:shown]
    values = result.losses[:, best].T
    yield Chart(
        title="Loss before each iteration" if result.moves is None else "Loss of the plan of each move",
        unit="",
        lines=[Line(name="loss" if shown == 1 else f"world {world}", color=k) for k, world in enumerate(best)],
        times=np.array(numbers, dtype=float),
        values=values[None, :, :, None],
        gaps=np.zeros((1, shown)),
        is_logarithmic=bool((values > 0.0).all()),
        axis=Axis(places=numbers, labels=[str(each) if each % stride == 0 else "" for each in numbers]),
        note="" if shown == worlds else f"the best {shown} of {worlds} worlds",
    )


def _rows(result: OptimisationResult) -> Iterator[tuple[Any, ...]]:
    for name, points in result.values.items():
        for number, row in enumerate(points):
            listed = ", ".join(f"{each:.5g}" for each in row[:_VALUES])
            more = f", and {len(row) - _VALUES} more" if len(row) > _VALUES else ""
            yield name, number, f"{listed}{more}"
