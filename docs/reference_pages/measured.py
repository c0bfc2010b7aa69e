"""Results of `pippin benchmark` for the solvers of this repository, as `docs/draw_benchmark.py` keeps them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
from pippin_benchmark.benchmark import load_problem
from pippin_benchmark.result import Benchmark, BenchmarkRow

KEPT = Path(__file__).parents[1] / "reference" / "benchmark.csv"

_NUMBERS = ("dt", "error", "cost", "energy_drift", "momentum_drift")
_AMONG = "cost_among_64"
_COLUMNS = ("solver", "variant", "problem", *_NUMBERS, "outcome", "ignored", _AMONG)


def short_name(solver: str) -> str:
    """Return the name of a solver in tables: of `NAME@FOLDER`, the last part of the folder, if it is another name."""
    name, _, folder = solver.partition("@")
    return f"{name}@{Path(folder).name}" if Path(folder or name).name != name else name


def kept() -> Benchmark:
    """Return the results that the documentation shows."""
    return of_rows(read(KEPT))


def read(file: Path) -> list[BenchmarkRow]:
    """Return the rows of a `benchmark.csv`; its reasons are left out."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [_row(line) for line in csv.DictReader(lines)]


def text_of(rows: Iterable[BenchmarkRow]) -> str:
    """Return the rows in the form of the file, with four digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        values = {**attrs.asdict(row, recurse=False), "ignored": " ".join(row.ignored), _AMONG: row.cost_among.get(64)}
        writer.writerow(_text(values[name]) for name in _COLUMNS)
    return text.getvalue()


def of_rows(rows: Sequence[BenchmarkRow]) -> Benchmark:
    """Return rows as a benchmark."""
    problems = {name: type(load_problem(name)) for name in sorted({row.problem for row in rows})}
    return Benchmark(rows=tuple(rows), problems=problems, machine="", seconds=0.0, folder=KEPT.parent)


def _row(line: dict[str, str]) -> BenchmarkRow:
    numbers: dict[str, Any] = {name: float(line[name]) if line[name] else None for name in _NUMBERS}
    texts = {name: line[name] for name in ("solver", "variant", "problem", "outcome")}
    among = {64: float(line[_AMONG])} if line.get(_AMONG) else {}
    return BenchmarkRow(**texts, **numbers, ignored=tuple(line["ignored"].split()), cost_among=among)


def _text(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float) else value
