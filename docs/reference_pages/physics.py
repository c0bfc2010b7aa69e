"""Page *Physics checks*: errors of each solver in the problems of `pippin benchmark`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pippin_benchmark.result import Benchmark, tables

from . import measured

NOTES = Path(__file__).with_name("physics.toml")

PHYSICS = """\
# Physics checks

<!-- Written by docs/write_reference.py from benchmark.csv and docs/reference_pages/physics.toml. -->

The tables come from one run of `pippin benchmark` on the CPU, with the default options of each solver and those in the
names of columns. The command writes the same tables for any solvers that are installed, yours too, as `benchmark.md`.
[Ten solvers in one diagram](../explanation/ten-solvers.md) shows what the errors cost, and how they were measured.
All figures are in [`benchmark.csv`](benchmark.csv).

The same physics are tests: [each solver](../../tests/physics) is held to tolerances for free fall, tops, pendulums,
friction, collisions, towers, and cloth and grains in flight. [Solver by solver](#solver-by-solver) explains where the
errors come from; [solvers](solvers.md) lists other differences.

## Problems

| problem | what is compared |
|---|---|
"""

SOURCES = """
## Solver by solver
"""


def page() -> str:
    """Return the errors of the solvers in the problems, with their sources, and the uses of each solver."""
    found = measured.kept()
    notes = tomllib.loads(NOTES.read_text(encoding="utf-8"))
    titles = "".join(f"| `{name}` | {problem.title} |\n" for name, problem in sorted(found.problems.items()))
    sources = "".join(_sources(found, name, own) for name, own in notes.items())
    return f"{PHYSICS}{titles}\n{tables(found)}{SOURCES}{sources}"


def _sources(found: Benchmark, name: str, notes: Mapping[str, Any]) -> str:
    """Return the uses of a solver, and the sources of its errors."""
    lines = [
        f"- `{problem}`, {_least(found, name, problem)}: {text}\n" for problem, text in notes.get("sources", {}).items()
    ]
    return f"\n### `{name}`\n\nGood for {notes['good_for']}\n" + ("\n" + "".join(lines) if lines else "")


def _least(found: Benchmark, name: str, problem: str) -> str:
    """Return the least error of a solver in a problem, with its unit."""
    (series,) = (each for each in found.series(problem) if each.name == name)
    error = min(row.error for row in series.finished if row.error is not None)
    unit = found.problems[problem].unit
    return f"{error:.1g}" if unit == "1" else f"{error:.1g} {unit}"
