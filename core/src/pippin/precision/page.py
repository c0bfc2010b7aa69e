"""Page of a benchmark: a diagram of error against cost for each scene, orders, largest steps and drifts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pippin.runs.report.markup import Markup, element, joined, noted, section, table
from pippin.runs.report.page import Charts, grid, page

from .diagram import diagram
from .result import Benchmark, BenchmarkSeries

_BADGES = {"held": "badge good", "lost": "badge bad", "failed": "badge bad"}

_LEAST = 1e-9
"""Errors below are drawn there: a logarithmic axis has no zero."""


def benchmark_page(found: Benchmark) -> str:
    """Return the page of a benchmark."""
    names = list(dict.fromkeys(row.name for row in found.rows))
    colors = {name: index for index, name in enumerate(names)}
    body = [
        *_header(found, names),
        section("Scenes held", _held(found, names)),
        *(_scene(found, scene, colors) for scene in found.scenes),
        section("Reasons", noted(_reasons(found))),
    ]
    return page(found.title, [part for part in body if part], Charts())


def _header(found: Benchmark, names: Sequence[str]) -> Iterator[Markup]:
    scenes = "one scene" if len(found.scenes) == 1 else f"{len(found.scenes)} scenes"
    text = (
        f"{len(names)} solvers, {scenes}, {found.seconds:,.0f} s on {found.machine}. A point is a run"
        " with one physics step; further left is cheaper, further down is more exact. Cost is the time of one simulated"
        " second: on a CPU, that of all threads of the process together."
    )
    yield element("header", element("h1", found.title), element("p", text))
    yield element("p", *(_key(name, index) for index, name in enumerate(names)))


def _key(name: str, index: int) -> Markup:
    return joined([element("span", "● ", style=f"color:var(--c{index % 10})"), f"{name}  "])


def _held(found: Benchmark, names: Sequence[str]) -> Markup:
    """Return the largest step with which each solver holds each scene."""
    rows = []
    for name in names:
        cells: list[object] = [name]
        for scene in found.scenes:
            own = next((each for each in found.series(scene) if each.name == name), None)
            cells.append("" if own is None else _cell(own))
        rows.append(cells)
    note = element(
        "p", element("small", "The largest step [ms] from which all smaller ones keep the error below the limit")
    )
    return joined([table(["solver", *found.scenes], rows, numeric=len(found.scenes)), note])


def _cell(own: BenchmarkSeries) -> Markup:
    text = own.outcome if own.largest_step is None else f"{1e3 * own.largest_step:g}"
    return element("span", text, class_=_BADGES.get(own.outcome, "badge"))


def _scene(found: Benchmark, name: str, colors: dict[str, int]) -> Markup:
    scene, series = found.scenes[name], [each for each in found.series(name) if each.finished]
    worlds = sorted({number for each in series for row in each.rows for number in row.cost_among})
    if not series:
        return section(name, element("p", scene.title), element("p", "No solver finished it."))
    error = f"error [{scene.unit}]" if scene.unit != "1" else "relative error"
    single = {each.name: [(row.cost or 0.0, max(row.error or 0.0, _LEAST)) for row in each.finished] for each in series}
    title = "one world" if found.worlds == 1 else f"one of {found.worlds} worlds"
    drawn = [_figure(title, single, colors, "cost of a simulated second [s]", error)]
    for number in worlds:
        among = {
            each.name: [
                (row.cost_among[number], max(row.error or 0.0, _LEAST))
                for row in each.finished
                if number in row.cost_among
            ]
            for each in series
        }
        lines = {each: points for each, points in among.items() if points}
        drawn.append(
            _figure(f"one of {number} worlds", lines, colors, "cost of a simulated second of a world [s]", error)
        )
    return section(
        name, element("p", scene.title, f"; limit {scene.limit:g}"), grid(drawn), _figures(scene.unit, series)
    )


def _figure(
    title: str, lines: dict[str, list[tuple[float, float]]], colors: dict[str, int], across: str, along: str
) -> Markup:
    return element("figure", element("figcaption", title), diagram(lines, colors, across, along))


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
            "" if each.largest_step is None else f"{1e3 * each.largest_step:g}",
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
            reasons.setdefault(f"{row.name} in {row.scene}", []).append(f"{1e3 * row.dt:g} ms: {row.reason}")
    return reasons
