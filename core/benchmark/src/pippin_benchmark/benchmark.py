"""Benchmark of solvers: each runs all problems in a process of its own, over a ladder of steps."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import attrs
from pippin import ConfigError, PluginError, SimulationError, structure
from pippin.catalog import Catalog
from pippin.report import Markup
from pippin.studies import RunFolder, RunProgress, Study, run_study
from pippin.workers import WorkerProcess

from .problem import SAMPLE, BenchmarkProblem
from .result import Benchmark, BenchmarkRow, benchmark_markdown, benchmark_page
from .solvers import solver_table, solvers_of

STEPS, QUICK_STEPS = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005), (0.01, 0.005, 0.002)
"""Ladders of steps [s]."""

_PATIENCE, _QUICK_PATIENCE = 30.0, 2.0
"""Largest cost of a run [s]."""

_AMONG = 0.005
"""Step of the runs of many worlds [s]: a step costs the same at any length."""


def benchmark(
    solvers: Sequence[str] = (),
    problems: Sequence[str] = (),
    *,
    is_quick: bool = False,
    dt: Sequence[float] = (),
    variants: Iterable[str] = (),
    worlds: Sequence[int] = (64,),
    device: str | None = None,
    patience: float | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Benchmark:
    """Measure the error and the cost of solvers in problems with a reference.

    Args:
        solvers: Names of solvers, `NAME@FOLDER` for one in the environment of a folder; by default all installed ones.
        problems: Names of problems; by default all installed ones, or the quick ones.
        is_quick: Whether to take few problems and steps.
        dt: Physics steps [s]; by default a ladder from 50 ms to 0.5 ms.
        variants: Options of solvers, each `SOLVER.KEY=VALUE`: they run once more with them. By default those that the
            solvers declare as `benchmark_variants`, and none for the quick ones.
        worlds: Numbers of worlds to measure the cost among.
        device: The device; by default the CPU.
        patience: Largest cost of a run [s]; one that would cost more ends early.
        out: Folder for the figures and the page, new or empty; by default `runs/benchmark-DATE-TIME`.

    Raises:
        ConfigError: An argument is wrong. A solver that cannot run a problem is a result, not an error.
        PluginError: No such solver or problem is installed, or a problem is broken.
    """
    names = solvers_of(solvers)
    for name in solvers:
        solver_table(name)
    if patience is not None and not patience > 0.0:
        raise ConfigError(f"patience: expected a positive time in seconds, got {patience!r}")
    if any(number < 1 for number in worlds):
        raise ConfigError(f"worlds: expected numbers of at least 1, got {list(worlds)}")
    ladder = _ladder(dt or (QUICK_STEPS if is_quick else STEPS))
    chosen = _problems(problems, is_quick=is_quick)
    options = _options(names, tuple(variants), is_quick=is_quick)
    limit = patience or (_QUICK_PATIENCE if is_quick else _PATIENCE)
    plan = {"steps": ladder, "worlds": tuple(worlds), "device": device or "cpu", "patience": limit}
    return run_study(ProblemStudy(options, chosen, plan), None, out=out)


class BenchmarkStudy(Study[Benchmark]):
    """A benchmark: its files, and the time that it took."""

    kind = "benchmark"
    files = "benchmark.json", "benchmark.html"
    needs_newton = False
    is_waiting = True

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        #: What was measured so far.
        self.rows: list[BenchmarkRow] = []

    @property
    def seconds(self) -> float:
        """Time since the start [s]."""
        return time.perf_counter() - self._begun

    def write(self, result: Benchmark, folder: RunFolder) -> None:
        """Write the rows and the tables."""
        folder.write_text("benchmark.csv", _csv(result.rows))
        folder.write_text("benchmark.md", benchmark_markdown(result))

    def page(self, result: Benchmark, file: Path) -> Iterator[Markup]:
        """Return the page."""
        return benchmark_page(result)


class ProblemStudy(BenchmarkStudy):
    """A benchmark of solvers in problems with a reference.

    Args:
        options: The options of each solver, by variant.
        problems: The problems by name.
        plan: Steps, numbers of worlds, device and patience.
    """

    def __init__(
        self,
        options: Mapping[str, Mapping[str, Mapping[str, Any]]],
        problems: Mapping[str, type[BenchmarkProblem]],
        plan: Mapping[str, Any],
    ) -> None:
        super().__init__()
        self._options, self._problems, self._plan, self._machine = options, problems, plan, ""

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Measure one solver after the other."""
        for solver in self._options:
            with progress.phase(solver):
                self._measure(solver, progress)

    def _measure(self, solver: str, progress: RunProgress) -> None:
        problems, variants, plan = tuple(self._problems), self._options[solver], self._plan
        with WorkerProcess(solver, _measure, solver, problems, variants, plan, requires_grad=False) as process:
            self._machine, problem = process.receive(), problems[0]
            try:
                while (row := process.receive()) is not None:
                    self.rows.append(row)
                    problem = row.problem
                    progress.update(f"{row.name}, {row.problem}, {1e3 * row.dt:g} ms")
            except SimulationError as error:
                lost = BenchmarkRow(solver=solver, problem=problem, dt=plan["steps"][-1], outcome="failed")
                self.rows.append(attrs.evolve(lost, reason=str(error)))

    def result(self, folder: Path) -> Benchmark | None:
        """Return the rows so far; None before the first one."""
        if not self.rows:
            return None
        rows, problems = tuple(self.rows), self._problems
        return Benchmark(rows=rows, problems=problems, machine=self._machine, seconds=self.seconds, folder=folder)


def _ladder(steps: Sequence[float]) -> tuple[float, ...]:
    for dt in steps:
        count = SAMPLE / dt if dt > 0.0 else 0.5
        if abs(count - round(count)) > 1e-6 or count < 1.0 - 1e-6:
            raise ConfigError(f"dt: {SAMPLE:g} s is no multiple of {dt:g} s; take a step that divides it")
    return tuple(sorted(set(steps), reverse=True))


def load_problem(name: str) -> BenchmarkProblem:
    """Return the problem of a name.

    Raises:
        PluginError: No such problem is installed, or it is broken.
    """
    return cast("type[BenchmarkProblem]", Catalog.installed().find("problem", name).load())()


def _problems(names: Sequence[str], *, is_quick: bool) -> dict[str, type[BenchmarkProblem]]:
    known = Catalog.installed().names("problem")
    found = {name: type(load_problem(name)) for name in names or known}
    return found if names or not is_quick else {name: problem for name, problem in found.items() if problem.is_quick}


def _options(
    solvers: Sequence[str], variants: Sequence[str], *, is_quick: bool
) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {solver: {"": {}} for solver in solvers}
    for text in variants:
        place, equals, _ = text.partition("=")
        solver = next((each for each in solvers if place.strip().startswith(f"{each}.")), "")
        if not equals or not place.strip()[len(solver) + 1 :] or not solver:
            raise ConfigError(f"variant: {text!r} is not SOLVER.KEY=VALUE with one of {', '.join(solvers)}")
        found[solver] |= _variant(solver, text.strip()[len(solver) + 1 :])
    return found if variants or is_quick else {solver: own | _declared(solver) for solver, own in found.items()}


def _declared(solver: str) -> dict[str, dict[str, Any]]:
    entry, found = Catalog.installed().find("solver", solver.partition("@")[0]), {}
    try:
        for text in declared_variants(entry.load_config()):
            found |= _variant(solver, text)
    except ConfigError as error:
        raise PluginError(f"{entry}: benchmark_variants: {error}") from error
    return found


def _variant(solver: str, text: str) -> dict[str, dict[str, Any]]:
    """Return an option `KEY=VALUE` of a solver, by its name in the results; a wrong one is an error now."""
    key, value = (each.strip() for each in text.split("=", 1))
    try:
        own = {key: json.loads(value)}
    except ValueError:
        own = {key: value}
    structure({"solver": {**solver_table(solver), **own}})
    return {f"{key}={value}": own}


def _measure(
    connection: Connection,
    solver: str,
    problems: Sequence[str],
    variants: Mapping[str, Mapping[str, Any]],
    plan: Mapping[str, Any],
) -> None:
    from .measuring import cost_per_step, machine, measured

    device, patience = plan["device"], plan["patience"]
    connection.send(machine(device))
    for name in problems:
        problem = load_problem(name)
        for variant, options in variants.items():
            among: dict[int, float] = {}
            for dt in plan["steps"]:
                row = BenchmarkRow(solver=solver, variant=variant, problem=name, dt=dt)
                row = measured(problem, row, options, device=device, patience=patience)
                if row.outcome == "finished" and not among:
                    own = attrs.evolve(row, dt=_AMONG)
                    costs = {
                        each: cost_per_step(problem, own, options, device=device, worlds=each)
                        for each in plan["worlds"]
                    }
                    among = {each: cost for each, cost in costs.items() if cost is not None}
                costs_of = {each: cost / dt for each, cost in among.items()} if row.outcome == "finished" else {}
                connection.send(attrs.evolve(row, cost_among=costs_of))
                if row.outcome in ("unable", "slow"):
                    break  # a smaller step is refused, too, or costs more
    connection.send(None)


def _csv(rows: Sequence[BenchmarkRow]) -> str:
    text = io.StringIO()
    worlds = sorted({each for row in rows for each in row.cost_among})
    plain = [field.name for field in attrs.fields(BenchmarkRow) if field.name not in ("cost_among", "ignored")]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*plain, "ignored", *(f"cost_among_{each}" for each in worlds)])
    for row in rows:
        own = [getattr(row, name) for name in plain]
        writer.writerow([*own, " ".join(row.ignored), *(row.cost_among.get(each) for each in worlds)])
    return text.getvalue()


def declared_variants(cls: type) -> Sequence[str]:
    """Return the class attribute `benchmark_variants` of a solver: options, each `KEY=VALUE`, with which a benchmark
    runs it once more.

    Raises:
        PluginError: It is something else.
    """
    found = getattr(cls, "benchmark_variants", ())
    if not isinstance(found, tuple) or not all(isinstance(each, str) and "=" in each for each in found):
        raise PluginError(
            f"{cls.__qualname__}.benchmark_variants: expected a tuple of options, as ('iterations=8',), got {found!r}"
        )
    return found
