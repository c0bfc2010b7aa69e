"""Results of a benchmark: rows of solvers, problems and steps, and what follows from them, on a page and as tables in
Markdown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.report import Chart, Line, Markup, element, noted, section, table

from .problem import BenchmarkProblem

_FLOOR = 0.3
"""Order below which a smaller step no longer helps."""

_BADGES = {"held": "badge good", "lost": "badge bad", "failed": "badge bad"}

_LEAST = 1e-9
"""Errors below are drawn there: a logarithmic axis has no zero."""

_UNITS = {"1": "share"}


@attrs.frozen(kw_only=True)
class BenchmarkRow:
    """Result of a solver in a problem with one step. A figure is None if there was nothing to measure."""

    solver: str

    variant: str = ""
    """Options of the solver that differ from its defaults."""

    problem: str

    dt: float
    """Physics step [s]."""

    outcome: str = "waiting"
    """`finished`, `failed` (during the run), `slow` (ended early) or `unable` (refused before the run)."""

    reason: str | None = None
    """Reason why the run did not finish."""

    ignored: tuple[str, ...] = ()
    """Features of the problem that the solver ignores."""

    error: float | None = None
    """The error, in the unit of the problem."""

    cost: float | None = None
    """Time of one simulated second of one world, on one core or on the GPU [s]."""

    cost_among: Mapping[int, float] = attrs.field(factory=dict)
    """The same for a world among many, by their number [s]."""

    energy_drift: float | None = None
    """Largest change of mechanical energy, in units of the largest kinetic energy."""

    momentum_drift: float | None = None
    """Largest change of angular momentum, in units of that of the start."""

    @property
    def name(self) -> str:
        """The solver, with its options."""
        return f"{self.solver} {self.variant}".strip()


@attrs.frozen(kw_only=True)
class BenchmarkSeries:
    """The rows of a solver in a problem, from the largest step to the smallest one."""

    name: str
    """The solver, with its options."""

    rows: tuple[BenchmarkRow, ...]

    limit: float
    """Error from which the problem is lost."""

    @property
    def finished(self) -> tuple[BenchmarkRow, ...]:
        """The rows with an error."""
        return tuple(row for row in self.rows if row.error is not None)

    @property
    def order(self) -> float | None:
        """Order of convergence: the steepest slope of the error between neighbouring steps that hold the problem."""
        slopes = [slope for error, slope in self._slopes() if error <= self.limit]
        return max(slopes) if slopes else None

    @property
    def floor(self) -> float | None:
        """The smallest error, if smaller steps no longer lessen it: that of single precision, or of the method."""
        slopes = list(self._slopes())
        if not slopes or slopes[-1][1] > _FLOOR:
            return None
        return min(row.error for row in self.finished if row.error is not None)

    @property
    def largest_step(self) -> float | None:
        """The largest step from which all smaller ones hold the problem [s]."""
        held = None
        for row in reversed(self.rows):
            if row.outcome == "slow":
                continue
            if row.error is None or not row.error <= self.limit:
                break
            held = row.dt
        return held

    @property
    def held(self) -> str:
        """The largest step [ms] as text; the outcome if there is none."""
        return self.outcome if self.largest_step is None else f"{1e3 * self.largest_step:g}"

    @property
    def outcome(self) -> str:
        """`held`, `lost`, or why there is no error."""
        if self.finished:
            return "lost" if self.largest_step is None else "held"
        return self.rows[-1].outcome

    def _slopes(self) -> Iterator[tuple[float, float]]:
        """Yield the error of each step but the last, and the slope from there to the next one."""
        for coarse, fine in itertools.pairwise(self.finished):
            if coarse.error and fine.error:
                slope = np.log(coarse.error / fine.error) / np.log(coarse.dt / fine.dt)
                yield coarse.error, float(slope)


@attrs.frozen(kw_only=True)
class FileProblem:
    """The problem of a file, as the rows of a benchmark need it."""

    title: str
    """The file, its reference, and what the error is."""

    limit: float
    """Error from which a step is lost."""

    duration: float
    """Time that is simulated [s]."""

    unit: str = "m"
    """Unit of the error."""


@attrs.frozen(kw_only=True, eq=False)
class Benchmark:
    """Error against cost of solvers in problems."""

    rows: tuple[BenchmarkRow, ...]

    problems: Mapping[str, type[BenchmarkProblem] | FileProblem]
    """The problems by name."""

    machine: str
    """Processor or GPU."""

    seconds: float
    """Time that it took [s]."""

    folder: Path
    """The folder with `benchmark.json`, `benchmark.csv`, tables in `benchmark.md` and the page `benchmark.html`."""

    title: str = "Benchmark of solvers"
    """Title of the page."""

    worlds: int = 1
    """Number of worlds in which `cost` is that of one."""

    reference: Mapping[str, Any] | None = None
    """Solver, step [s] and error [m] of the reference of a file; None for problems with their own."""

    def series(self, problem: str) -> Sequence[BenchmarkSeries]:
        """Return the rows of a problem by solver."""
        own = [row for row in self.rows if row.problem == problem]
        names = dict.fromkeys(row.name for row in own)
        limit = self.problems[problem].limit
        return [
            BenchmarkSeries(name=name, limit=limit, rows=tuple(row for row in own if row.name == name))
            for name in names
        ]

    def summary(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "machine": self.machine,
            "seconds": self.seconds,
            "worlds": self.worlds,
            "reference": self.reference,
            "problems": {
                name: {key: getattr(problem, key) for key in ("title", "unit", "limit", "duration")}
                for name, problem in self.problems.items()
            },
            "rows": [attrs.asdict(row) for row in self.rows],
        }


def benchmark_page(found: Benchmark) -> Iterator[Markup]:
    """Yield the parts of the page of a benchmark."""
    names = list(dict.fromkeys(row.name for row in found.rows))
    looks = {name: Line(name=name, color=index) for index, name in enumerate(names)}
    problems = "one problem" if len(found.problems) == 1 else f"{len(found.problems)} problems"
    text = (
        f"{len(names)} solvers, {problems}, {found.seconds:,.0f} s on {found.machine}. A point is a run"
        " with one physics step; further left is cheaper, further down is more exact. Cost is the time of one simulated"
        " second: on a CPU, that of all threads of the process together."
    )
    yield element("header", element("h1", found.title), element("p", text))
    yield section("Problems held", *_held(found, names))
    yield from (_problem(found, problem, looks) for problem in found.problems)
    yield section("Reasons", noted(_reasons(found)))


def _held(found: Benchmark, names: Sequence[str]) -> Iterator[Markup]:
    rows = []
    for name in names:
        cells: list[object] = [name]
        for problem in found.problems:
            own = next((each for each in found.series(problem) if each.name == name), None)
            cells.append("" if own is None else element("span", own.held, class_=_BADGES.get(own.outcome, "badge")))
        rows.append(cells)
    yield table(["solver", *found.problems], rows, numeric=len(found.problems))
    note = "The largest step [ms] from which all smaller ones keep the error below the limit"
    yield element("p", element("small", note))


def _problem(found: Benchmark, name: str, looks: Mapping[str, Line]) -> Markup:
    problem, series = found.problems[name], [each for each in found.series(name) if each.finished]
    if not series:
        return section(name, element("p", problem.title), element("p", "No solver finished it."))
    unit = "" if problem.unit == "1" else problem.unit
    title = "one world" if found.worlds == 1 else f"one of {found.worlds} worlds"
    drawn = [(title, "over the cost of a simulated second [s]", _points(series, looks, lambda row: row.cost))]
    for count in sorted({count for each in series for row in each.rows for count in row.cost_among}):
        points = _points(series, looks, lambda row, count=count: row.cost_among.get(count))
        drawn.append((f"one of {count} worlds", "over the cost of a simulated second of a world [s]", points))
    charts = [
        Chart.of_points(f"error, {title}" if unit else f"relative error, {title}", points, unit, note=note)
        for title, note, points in drawn
        if points
    ]
    return section(
        name, element("p", problem.title, f"; limit {problem.limit:g}"), charts, _figures(problem.unit, series)
    )


def _points(
    series: Sequence[BenchmarkSeries], looks: Mapping[str, Line], cost: Callable[[BenchmarkRow], float | None]
) -> dict[Line, list[tuple[float, float]]]:
    points = {
        looks[each.name]: [(own, max(row.error or 0.0, _LEAST)) for row in each.finished if (own := cost(row))]
        for each in series
    }
    return {look: own for look, own in points.items() if own}


def _figures(unit: str, series: Sequence[BenchmarkSeries]) -> Markup:
    has_energy = any(row.energy_drift is not None for each in series for row in each.rows)
    has_momentum = any(row.momentum_drift is not None for each in series for row in each.rows)
    head = ["solver", "leaves out", "order", "largest step [ms]", f"least error [{unit}]", "floor", "cost there [s]"]
    head += ["energy drift"] * has_energy + ["momentum drift"] * has_momentum
    rows = []
    for each in series:
        best = min(each.finished, key=lambda row: row.error or 0.0)
        cells: list[object] = [
            each.name,
            ", ".join(best.ignored),
            _number(each.order, ".1f"),
            "" if each.largest_step is None else each.held,
            _number(best.error),
            _number(each.floor),
            _number(best.cost),
        ]
        cells += [_number(best.energy_drift)] * has_energy + [_number(best.momentum_drift)] * has_momentum
        rows.append(cells)
    return table(head, rows, numeric=len(head) - 2)


def _number(value: float | None, form: str = ".2g") -> str:
    return "" if value is None else format(value, form)


def _reasons(found: Benchmark) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for row in found.rows:
        if row.reason is not None:
            reasons.setdefault(f"{row.name} in {row.problem}", []).append(f"{1e3 * row.dt:g} ms: {row.reason}")
    return reasons


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
            _table(found, lambda each: each.held),
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
            _table(found, lambda each: _number(_last(each, "energy_drift"), ".1g")),
        ),
        (
            "Drift of angular momentum",
            "The same for angular momentum, in units of that of the start.",
            _table(found, lambda each: _number(_last(each, "momentum_drift"), ".1g")),
        ),
    ]
    return "\n".join(f"## {title}\n\n{text}\n\n{table}" for title, text, table in parts if table)


def _table(found: Benchmark, cell: Callable[[BenchmarkSeries], str], *, has_units: bool = False) -> str:
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


def _least(each: BenchmarkSeries) -> str:
    errors = [row.error for row in each.finished if row.error is not None]
    if not errors:
        return ""
    return f"{min(errors):.1g}" if each.floor is None else f"**{min(errors):.1g}**"


def _last(each: BenchmarkSeries, name: str) -> float | None:
    return getattr(each.finished[-1], name) if each.finished else None
