"""Tables of a benchmark in Markdown: largest steps, errors, orders and drifts, a row for each problem."""

from __future__ import annotations

from collections.abc import Callable

from .result import Benchmark, BenchmarkSeries

_UNITS = {"1": "share"}


def benchmark_markdown(found: Benchmark) -> str:
    """Return the page of a benchmark as Markdown."""
    return f"# {found.title}\n\n{len(found.problems)} problems, on {found.machine}.\n\n{tables(found)}"


def tables(found: Benchmark) -> str:
    """Return the tables of a benchmark, each under a heading of the second level."""
    parts = [
        (
            "Largest step",
            "The largest step [ms] from which all smaller ones keep the error below the limit of the problem: `lost` if"
            " no step does, `failed` if no run ended, `slow` if a run was too dear, `unable` if the solver lacks what"
            " the problem needs.",
            held_table(found),
        ),
        (
            "Least error",
            "The least error of all steps, in the unit of the problem. It is **bold** where smaller steps do not lessen"
            " it: that is the floor of the method, or of single precision.",
            _table(found, _least, has_units=True),
        ),
        (
            "Order of convergence",
            "How fast the error falls with the step: 1 if half the step gives half the error.",
            _table(found, lambda each: _number(each.order, ".1f")),
        ),
        (
            "Drift of energy",
            "The largest change of mechanical energy with the smallest step, in units of the largest kinetic energy, in"
            " problems that keep their energy.",
            _table(found, lambda each: _number(_last(each, "energy_drift"))),
        ),
        (
            "Drift of angular momentum",
            "The same for angular momentum, in units of that of the start.",
            _table(found, lambda each: _number(_last(each, "momentum_drift"))),
        ),
    ]
    return "\n".join(f"## {title}\n\n{text}\n\n{table}" for title, text, table in parts if table)


def held_table(found: Benchmark) -> str:
    """Return the largest steps that hold [ms], a row for each problem and a column for each solver."""
    return _table(found, _held)


def _table(found: Benchmark, cell: Callable[[BenchmarkSeries], str], *, has_units: bool = False) -> str:
    """Return a table without the problems of which no cell says anything."""
    names = sorted({row.name for row in found.rows if row.outcome != "unable"})
    head = ["problem", *(["unit", "limit"] if has_units else []), *(f"`{name}`" for name in names)]
    rows = []
    for problem in sorted(found.problems):
        series = {each.name: each for each in found.series(problem)}
        cells = [cell(series[name]) if name in series else "" for name in names]
        kind = found.problems[problem]
        facts = [_UNITS.get(kind.unit, kind.unit), f"{kind.limit:g}"] if has_units else []
        rows += [[problem, *facts, *cells]] * any(cells)
    if not rows:
        return ""
    first, *lines = [f"| {' | '.join(line)} |\n" for line in [head, *rows]]
    return "".join([first, "|---" * len(head), "|\n", *lines])


def _held(each: BenchmarkSeries) -> str:
    return each.outcome if each.largest_step is None else f"{1e3 * each.largest_step:g}"


def _least(each: BenchmarkSeries) -> str:
    errors = [row.error for row in each.finished if row.error is not None]
    if not errors:
        return ""
    return _number(min(errors)) if each.floor is None else f"**{_number(min(errors))}**"


def _last(each: BenchmarkSeries, name: str) -> float | None:
    return getattr(each.finished[-1], name) if each.finished else None


def _number(value: float | None, form: str = ".1g") -> str:
    return "" if value is None else format(value, form)
