"""Comparison of solvers on one file: each runs in a fresh process, all are timed and measured in the same way, and a
page has their figures, speeds, and what was measured over time.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, PluginError, SimulationConfig, SimulationError, did_you_mean
from pippin.measuring import COLUMNS, UNITS, SolverRun, figure_text
from pippin.recording import Series
from pippin.report import Chart, Line, Markup, bars, element, noted, section, table
from pippin.studies import RunFolder, RunProgress, Study, kept_overrides, run_study, step_count
from pippin.workers import WorkerProcess

from .solvers import Overrides, measurable, solvers_of

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

QUANTITIES = {
    "place_untouched": "place, until something touches [m]",
    "place": "place [m]",
    "place_at_end": "place, at the end [m]",
    "energy": "energy [J]",
    "penetration": "penetration [m]",
    "joint_gap": "joint gap [m]",
}
"""Quantities whose differences are told, of any body, particle and world at any sample, with their titles and units."""

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

    differences: Mapping[str, Mapping[str, float]] = attrs.field(factory=dict)
    """Largest difference of each quantity to the reference, by solver: those of `QUANTITIES` that both have."""

    exceeded: tuple[str, ...] = ()
    """A line for each figure that exceeds its limit, and for each difference beyond its tolerance."""

    folder: Path
    """The folder with all figures, the measurements over time and a page with charts."""

    def summary(self) -> dict[str, Any]:
        """Return everything but the series, as plain data."""
        return {
            "file": str(self.file),
            "steps": self.steps,
            "reference": self.reference,
            "units": UNITS,
            "differences": {solver: dict(found) for solver, found in self.differences.items()},
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
    yield section(f"Differences to {comparison.reference}", *_differences(comparison))
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


def _differences(comparison: Comparison) -> Iterator[Markup]:
    found = comparison.differences
    shown = [name for name in QUANTITIES if any(name in each for each in found.values())]
    rows = [[solver, *difference_texts(each, shown)] for solver, each in found.items()]
    if rows:
        yield table(["solver", *(QUANTITIES[name] for name in shown)], rows, numeric=len(shown))


def difference_texts(found: Mapping[str, float], shown: Sequence[str]) -> list[str]:
    """Return the differences of a solver as text; empty for a quantity that it does not have.

    Args:
        found: Its differences.
        shown: The quantities, in order.
    """
    return [f"{found[name]:.3g}" if name in found else "" for name in shown]


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


def compare(
    file: str | os.PathLike[str],
    solvers: Sequence[str] = (),
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    steps: int | None = None,
    duration: float | None = None,
    reference: str | None = None,
    limits: Mapping[str, float] | None = None,
    tolerances: Mapping[str, float] | None = None,
    timeout: float = 900.0,
    out: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Run a file with one solver after the other, each in a fresh process, and measure them in the same way.

    The solver of the file ignores only what the file accepts (`simulation.accept_unsupported`). Other solvers may also
    ignore features that only change numbers, such as the armature; they run with their defaults.

    Args:
        file: A configuration file.
        solvers: Names of solvers, `NAME@FOLDER` for one in the environment of a folder; by default all installed ones.
        overrides: Values on top of the file, as for `load`.
        steps: Control steps to simulate.
        duration: Time to simulate [s], in place of `steps`; by default 5 s.
        reference: Solver whose positions the others are compared with; by default the first one.
        limits: Largest allowed values of figures, by the names of the attributes of `SolverRun`.
        tolerances: Largest allowed differences to the reference, by the names of `Comparison.differences`; the empty
            name is that of all others.
        timeout: Longest time that a solver may take [s].
        out: Folder for all figures, the series and the page, new or empty; by default `runs/NAME-DATE-TIME`.

    Raises:
        ConfigError: The file or an argument is wrong. A solver that cannot run the file is a result, not an error.
        PluginError: A plugin that the file names is broken.
    """
    changes = kept_overrides(overrides)
    length, allowed = (steps, duration), (limits or {}, tolerances or {})
    study = ComparisonStudy(Path(file), changes, solvers, length, reference, allowed, timeout)
    return run_study(study, file, changes, out=out)


class ComparisonStudy(Study[Comparison]):
    """A comparison of solvers on a file; the arguments are those of `compare`."""

    kind = "comparison of solvers"
    files = "comparison.json", "comparison.html"
    needs_newton = False
    is_waiting = True

    def __init__(
        self,
        file: Path,
        overrides: Overrides,
        solvers: Sequence[str],
        length: tuple[int | None, float | None],
        reference: str | None,
        allowed: tuple[Mapping[str, float], Mapping[str, float]],
        timeout: float,
    ) -> None:
        self._file, self._overrides, self._names, self._length = file, overrides, tuple(solvers), length
        self._asked, self._timeout = reference, timeout
        self._limits, self._tolerances = allowed
        self._results: list[SolverRun] = []
        self._reference, self._steps, self._requires_grad = "", 0, False

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration, if no argument is wrong."""
        self._names = solvers_of(self._names, config)
        self._steps, self._requires_grad = step_count(config, *self._length), config.simulation.requires_grad
        self._reference = _checked(self._asked, self._names, self._limits, self._timeout)
        _refuse_unknown("tolerance", "quantity", self._tolerances, {"", *QUANTITIES})
        return config

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Run one solver after the other."""
        for solver in self._names:
            with progress.phase(solver):
                self._results.append(self._run_apart(solver))

    def _run_apart(self, solver: str) -> SolverRun:
        arguments = self._file, self._overrides, solver, self._steps, time.time()
        with WorkerProcess(solver, _run, *arguments, requires_grad=self._requires_grad) as process:
            try:
                return process.receive(self._timeout)
            except (ConfigError, PluginError) as error:
                return SolverRun(solver=solver, outcome="unable", reason=str(error))
            except SimulationError as error:
                return SolverRun(solver=solver, outcome="failed", reason=str(error))

    def result(self, folder: Path) -> Comparison | None:
        """Return the solvers that have run, if the reference is one of them."""
        if self._reference not in {result.solver for result in self._results}:
            return None
        related = {result.solver: result for result in _related(self._results, self._reference)}
        own = {result.solver: result.series for result in self._results}
        differences = {
            name: _differing(series, own[self._reference]) for name, series in own.items() if name != self._reference
        }
        return Comparison(
            file=self._file,
            steps=self._steps,
            reference=self._reference,
            solvers=related,
            differences=differences,
            exceeded=(*_exceeding(related, self._limits), *_intolerable(differences, self._tolerances)),
            folder=folder,
        )

    def write(self, result: Comparison, folder: RunFolder) -> None:
        """Write what was measured over time."""
        runs = result.solvers.items()
        folder.write_series({f"{name}/{each}": one for name, run in runs for each, one in run.series.items()})

    def page(self, result: Comparison, file: Path) -> Iterator[Markup]:
        """Return figures, speeds, and what was measured over time."""
        return comparison_page(result)


def _exceeding(solvers: Mapping[str, SolverRun], limits: Mapping[str, float]) -> Iterator[str]:
    for solver, result in solvers.items():
        for name, largest in limits.items():
            value = getattr(result, name)
            if value is not None and not value <= largest:
                yield f"{solver}: {name} is {value:.4g}, and may be {largest:.4g} at most"


def _intolerable(differences: Mapping[str, Mapping[str, float]], most: Mapping[str, float]) -> Iterator[str]:
    for solver, found in differences.items():
        for name, value in found.items():
            largest = most.get(name, most.get(""))
            if largest is not None and not value <= largest:
                yield f"{solver}: {QUANTITIES[name]} differs by {value:.4g}, and may by {largest:.4g} at most"
        for name in most.keys() - found.keys() - {""}:
            most_text = f"may differ by {most[name]:.4g} at most"
            yield f"{solver}: {QUANTITIES[name]} was not measured in both runs, and {most_text}"


def _checked(reference: str | None, solvers: Sequence[str], limits: Mapping[str, float], timeout: float) -> str:
    if reference is not None and reference not in solvers:
        raise ConfigError(f"reference: {reference!r} is not compared; name one of {', '.join(solvers)}")
    _refuse_unknown("limit", "figure", limits, UNITS)
    if not timeout > 0.0:
        raise ConfigError(f"timeout: expected a positive time in seconds, got {timeout!r}")
    return reference or solvers[0]


def _refuse_unknown(what: str, kind: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            there = ", ".join(sorted(filter(None, known)))
            raise ConfigError(f"{what}: no {kind} {name!r}{did_you_mean(name, known)}; there are {there}")


def _run(connection: Connection, file: Path, overrides: Overrides, solver: str, steps: int, started: float) -> None:
    from pippin.measuring import MeasuredRun

    with warnings.catch_warnings(record=True, action="always") as noted:
        run = MeasuredRun(measurable(file, overrides, solver), steps, started)
    texts = tuple(dict.fromkeys(" ".join(str(warning.message).split()) for warning in noted))
    connection.send(run.result(solver, texts))


def _related(results: Sequence[SolverRun], reference: str) -> list[SolverRun]:
    by_name = {result.solver: result for result in results}
    theirs = by_name[reference].series
    scale = float(theirs["kinetic_energy"].values.max()) if theirs else 0.0
    related = []
    for result in results:
        series = {name: one for name, one in result.series.items() if name != "positions"}
        apart = _distance(result.series, theirs)
        if apart is not None:
            series["distance"] = Series(values=apart, units=("m",))
            result = attrs.evolve(result, distance=float(apart.max()))
        if scale and result.energy_drift is not None:
            result = attrs.evolve(result, relative_energy_drift=result.energy_drift / scale)
        related.append(attrs.evolve(result, series=series))
    return related


def _distance(ours: Mapping[str, Series], theirs: Mapping[str, Series]) -> np.ndarray | None:
    """Return the distance at the samples that both runs have [m]; None if a run has none, or their bodies differ."""
    if not ours or not theirs or ours["positions"].values.shape[1:] != theirs["positions"].values.shape[1:]:
        return None
    pairs = zip(ours["positions"].values, theirs["positions"].values, strict=False)
    return np.array([np.sqrt(((mine - other) ** 2).sum(axis=1).mean()) for mine, other in pairs])


def _differing(ours: Mapping[str, Series], theirs: Mapping[str, Series]) -> dict[str, float]:
    """Return the largest difference of each quantity that both runs have, at the samples of both."""
    found = {name: _apart(ours, theirs, name) for name in ("energy", "penetration", "joint_gap")}
    places = _apart(ours, theirs, "positions")
    if places is not None:
        found |= {"place": places, "place_at_end": places[-1:], "place_untouched": places[: _first_touch(ours, theirs)]}
    sizes = {name: np.abs(each).max(initial=0.0) for name, each in found.items() if each is not None and each.size}
    return {name: float(sizes[name]) for name in QUANTITIES if name in sizes}


def _apart(ours: Mapping[str, Series], theirs: Mapping[str, Series], name: str) -> np.ndarray | None:
    """Return how far both are apart at each sample; None if a run has none of it, or of another shape."""
    if name not in ours or name not in theirs:
        return None
    mine, other = ours[name].values, theirs[name].values
    count = min(len(mine), len(other))
    if mine.shape[1:] != other.shape[1:] or not count:
        return None
    with np.errstate(invalid="ignore"):  # infinite energies have no difference
        apart = mine[:count] - other[:count]
    return np.linalg.norm(apart, axis=-1) if name == "positions" else apart


def _first_touch(*runs: Mapping[str, Series]) -> int | None:
    """Return the first sample at which something touches in one of the runs; None if nothing does."""
    depths = [run["penetration"].values for run in runs if "penetration" in run]  # of each sample and world
    touching = [np.flatnonzero((depth > 0.0).reshape(len(depth), -1).any(axis=1)) for depth in depths]
    return min((int(found[0]) for found in touching if found.size), default=None)
