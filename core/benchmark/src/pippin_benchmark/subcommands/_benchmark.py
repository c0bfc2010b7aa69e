"""Error against cost, as a table or JSON."""

from __future__ import annotations

import json
from typing import Any

import click
from pippin.console import new_table, print_table


def print_benchmark(found: Any, *, is_json: bool) -> None:
    """Print a `Benchmark`, as a table or as one line of JSON."""
    if is_json:
        click.echo(json.dumps({**found.summary(), "folder": str(found.folder)}, ensure_ascii=False))
        return
    table = new_table("problem", "solver", r"held \[ms]", "order", "least error", "unit", r"cost \[s]")
    for problem, kind in found.problems.items():
        for each in found.series(problem):
            held = each.outcome if each.largest_step is None else f"{1e3 * each.largest_step:g}"
            best = min(each.finished, key=lambda row: row.error or 0.0, default=None)
            figures = (
                ("", "", "", "")
                if best is None
                else (_text(each.order), _text(best.error), kind.unit, _text(best.cost))
            )
            table.add_row(problem, each.name, held, *figures)
    print_table(table, [])


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"
