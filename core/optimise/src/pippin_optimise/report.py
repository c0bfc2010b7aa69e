"""Page of an optimisation: the loss before each iteration as a chart, the values, and the check of the gradient."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pippin.report import Axis, Chart, Line, Markup, element, heading, section, table

from .result import OptimisationResult

_WORLDS, _VALUES = 8, 24
"""Most worlds with a line of their own, and values of a variable that are listed."""


def optimisation_page(result: OptimisationResult, file: Path) -> Iterator[Markup]:
    """Yield the parts of the page of an optimisation of a file."""
    tiles = {
        "loss": f"{result.loss:.4g}",
        "first loss": f"{result.losses[0].min():.4g}" if len(result.losses) else "none",
        **({"iterations": str(result.iterations)} if result.moves is None else {"moves": str(result.moves)}),
        "rollouts": str(result.rollouts),
        "wall time": f"{result.seconds:.1f} s",
    }
    yield heading(f"Optimisation of {file.name}", play_command(result), tiles)
    yield section("Loss", [*_charts(result)], element("p", f"{result.ended}."))
    yield section("Values", element("p", _whose(result)), table(("variable", "point", "values"), _rows(result)))
    checks = [
        (each.variable, each.world, f"{each.derivative:.6g}", f"{each.difference:.6g}") for each in result.comparisons
    ]
    heads = ("variable", "world", "by the gradient", "by two rollouts")
    yield section("Gradient at the start", table(heads, checks, numeric=2) if checks else None)


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
    best = np.argsort(result.losses[-1], kind="stable")[:shown]
    values = result.losses[:, best].T
    looks = [Line(name="loss" if shown == 1 else f"world {world}", color=k) for k, world in enumerate(best)]
    yield Chart.of(
        "Loss before each iteration" if result.moves is None else "Loss of the plan of each move",
        dict(zip(looks, values, strict=True)),
        Axis.of([str(number) for number in range(count)]),
        is_logarithmic=bool((values > 0.0).all()),
        note="" if shown == worlds else f"the best {shown} of {worlds} worlds",
    )


def _rows(result: OptimisationResult) -> Iterator[tuple[Any, ...]]:
    for name, points in result.values.items():
        for number, row in enumerate(points):
            listed = ", ".join(f"{each:.5g}" for each in row[:_VALUES])
            more = f", and {len(row) - _VALUES} more" if len(row) > _VALUES else ""
            yield name, number, f"{listed}{more}"
