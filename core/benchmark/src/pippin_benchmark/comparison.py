"""Results of a comparison of solvers on one file, and their page: figures, speed, and what was measured over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.measuring import COLUMNS, UNITS, SolverRun, figure_text
from pippin.report import Chart, Line, Markup, bars, element, noted, section, table

_CHARTS = {
    "energy": ("change of mechanical energy", "J"),
    "distance": ("distance to the reference", "m"),
    "joint_gap": ("joint gap", "m"),
    "penetration": ("penetration", "m"),
    "angle_limit_violation": ("violation of angle limits", "rad"),
    "length_limit_violation": ("violation of length limits", "m"),
}
"""Series over time that are drawn, with their titles and units."""

_STYLES = ("solid", "dashed", "dotted", "dash-dotted")
"""Line styles, one solver after the other: two curves on top of each other both stay visible."""

_HEADROOM = 3.0
"""Top of an axis, in units of the largest value of the solvers that finished: one that diverges leaves the chart."""

_BADGES = {"finished": "badge good", "failed": "badge bad", "unable": "badge"}


@attrs.frozen(kw_only=True, eq=False)
class Comparison:
    """Results of several solvers on one file."""

    file: Path
    """The configuration file."""

    steps: int
    """Control steps of each run."""

    reference: str
    """The solver that the distances refer to."""

    solvers: Mapping[str, SolverRun]
    """The result of each solver, by name, in the order of the comparison."""

    exceeded: tuple[str, ...] = ()
    """A line for each figure that exceeds its limit."""

    folder: Path
    """The folder with all figures, the measurements over time and a page with charts."""

    def summary(self) -> dict[str, Any]:
        """Return everything but the series, as plain data."""
        return {
            "file": str(self.file),
            "steps": self.steps,
            "reference": self.reference,
            "units": UNITS,
            "exceeded": list(self.exceeded),
            "solvers": [result.figures() for result in self.solvers.values()],
        }

    @property
    def measured(self) -> list[str]:
        """The figures of a table that some solver has."""
        return [name for name in COLUMNS if any(getattr(run, name) is not None for run in self.solvers.values())]


def comparison_page(comparison: Comparison) -> Iterator[Markup]:
    """Yield the parts of the page of a comparison."""
    results = tuple(comparison.solvers.values())
    hint = "logarithmic, without zeros; a solver that diverges leaves the chart; a click on a name hides its line"
    bar = element("div", element("small", hint), element("output", id="clock"), class_="bar")
    notes = {result.solver: [*(result.reason or "").splitlines(), *result.warnings] for result in results}
    charts = [*_charts(results, comparison.reference)]
    yield from _header(comparison)
    yield section("Figures", _figures(comparison))
    yield section("Speed", *_speed(results))
    yield section("Over time, in the worst world", *((bar, charts) if charts else ()))
    yield section("Reasons and warnings", noted(notes))


def _header(comparison: Comparison) -> Iterator[Markup]:
    count, whole = sum(run.outcome == "finished" for run in comparison.solvers.values()), len(comparison.solvers)
    badge = element("span", f"{count} of {whole} finished", class_=f"badge{' good' * (count == whole)}")
    text = f"{comparison.steps:,} control steps with each solver; the reference is {comparison.reference}"
    yield element("header", element("h1", comparison.file.name, badge), element("p", text))
    if comparison.exceeded:
        yield element("div", "\n".join(comparison.exceeded), class_="box bad")


def _figures(comparison: Comparison) -> Markup:
    shown, ignores = comparison.measured, ["ignores"] * any(run.ignored for run in comparison.solvers.values())
    rows = [
        [
            solver,
            element("span", run.outcome, class_=_BADGES[run.outcome]),
            *(", ".join(run.ignored) for _ in ignores),
            *(figure_text(name, getattr(run, name)) for name in shown),
        ]
        for solver, run in comparison.solvers.items()
    ]
    return table(["solver", "outcome", *ignores, *(COLUMNS[name] for name in shown)], rows, numeric=len(shown))


def _speed(results: Sequence[SolverRun]) -> Iterator[Markup]:
    """Yield a bar for each solver that was timed; a solver has one colour on the whole page."""
    colors = {result.solver: f"var(--c{index % 10})" for index, result in enumerate(results)}
    speeds = {one.solver: one.world_steps_per_second for one in results if one.world_steps_per_second is not None}
    texts = {solver: f"{speed:,.0f}/s" for solver, speed in speeds.items()}
    without = [f"{one.solver} without {', '.join(one.ignored)}" for one in results if one.ignored]
    hint = "; ".join(["world-steps per second, after the first control step", *without])
    if speeds:
        yield bars(speeds, texts, colors)
        yield element("p", element("small", hint))


def _charts(results: Sequence[SolverRun], reference: str) -> Iterator[Chart]:
    for name, (title, unit) in _CHARTS.items():
        measured = [(index, result) for index, result in enumerate(results) if name in result.series]
        worst = [_worst(name, result) for _, result in measured]
        if not any((values > 0.0).any() for values in worst):
            continue  # nothing moved, parted or sank
        times = max((result.series["time"].values for _, result in measured), key=len)
        values = np.full((len(worst), max(map(len, worst))), np.nan)
        for line, own in zip(values, worst, strict=True):
            line[: len(own)] = np.where(np.isfinite(own), own, np.nan)
        finished = [own.max() for own, (_, one) in zip(worst, measured, strict=True) if one.outcome == "finished"]
        looks = [Line(name=one.solver, color=index, style=_STYLES[index % 4]) for index, one in measured]
        yield Chart.of(
            title.replace("the reference", reference),
            dict(zip(looks, values, strict=True)),
            np.asarray(times)[: values.shape[1]],
            unit,
            gaps=np.array([[int((~np.isfinite(own)).sum()) for own in worst]]),
            is_logarithmic=True,
            top=_HEADROOM * float(max(finished)) if finished and max(finished) > 0.0 else None,
        )


def _worst(name: str, result: SolverRun) -> np.ndarray:
    """Return the largest value of all worlds at each sample; for the energy, the largest change since the first."""
    values = result.series[name].values
    if name == "energy":
        with np.errstate(invalid="ignore"):  # infinite energies have no difference
            values = np.abs(values - values[0])
    return values if values.ndim == 1 else values.max(axis=1)
