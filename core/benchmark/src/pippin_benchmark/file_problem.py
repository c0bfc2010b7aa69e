"""The problem of a user's own file as a benchmark: a solver at a small step is its reference."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, PluginError, SimulationConfig, SimulationError
from pippin.studies import DEFAULT_DURATION, RunProgress, kept_overrides, run_study
from pippin.workers import WorkerProcess

from .benchmark import BenchmarkStudy
from .result import Benchmark, BenchmarkRow, FileProblem
from .solvers import Overrides, measurable, solvers_of

_SAMPLES = 100
"""Largest number of samples of a run."""

_LOST = 0.01
"""Share of the longest way of the reference that is the limit of the error, if nobody gives another one."""


@attrs.frozen(kw_only=True)
class _Plan:
    file: Path
    overrides: Overrides
    period: Fraction | None
    """Control period [s]; None for one physics step."""
    interval: Fraction
    """Time from sample to sample [s]."""
    samples: int
    timeout: float


def compare_steps(
    file: Path,
    solvers: Sequence[str],
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    dt: Sequence[float],
    reference: str | None,
    duration: float | None = None,
    limits: Mapping[str, float] | None = None,
    timeout: float = 900.0,
    out: Path | None = None,
) -> Benchmark:
    """Run a file with some solvers over a ladder of steps; the error is the distance to a reference.

    The distance is the root mean square over the positions of bodies and particles, at its largest. The reference runs
    at a second, larger step, too: the distance between the two tells how far the reference itself can be trusted.

    Args:
        file: A configuration file.
        solvers: Names of solvers; by default all installed ones.
        overrides: Values on top of the file, as for `load`.
        dt: Physics steps [s]. A control step keeps its length if it has several physics steps in the file.
        reference: `SOLVER@DT`, with a step below the others.
        duration: Time to simulate [s]; by default 5 s.
        limits: The limit of `distance` [m]; by default a hundredth of the longest way of the reference.
        timeout: Longest time of one run [s].
        out: Folder for the figures and the page, new or empty; by default `runs/NAME-DATE-TIME`.

    Raises:
        ConfigError: The file or an argument is wrong, or the reference cannot run it.
        SimulationError: The run of the reference failed.
    """
    changes = kept_overrides(overrides)
    study = FileStudy(file, changes, solvers, dt, _reference(reference, dt), duration, _limit(limits), timeout)
    return run_study(study, file, changes, out=out)


class FileStudy(BenchmarkStudy):
    """A benchmark of solvers on a file; the arguments are those of `compare_steps`."""

    kind = "error against cost"

    def __init__(
        self,
        file: Path,
        overrides: Overrides,
        solvers: Sequence[str],
        dt: Sequence[float],
        reference: tuple[str, float],
        duration: float | None,
        limit: float | None,
        timeout: float,
    ) -> None:
        super().__init__()
        self._source, self._steps, self._reference = (file, overrides), sorted(set(dt), reverse=True), reference
        self._solvers, self._duration, self._limit, self._timeout = solvers, duration, limit, timeout
        self._config: Any = None
        self._doubt = self._way = 0.0

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration, and plan the runs."""
        self._config, self._solvers = config, solvers_of(self._solvers, config)
        steps = [*self._steps, self._reference[1]]
        self._plan, self._larger = _plan(config, self._source, steps, self._duration, self._timeout)
        return config

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Run the reference with two steps, then each solver with all."""
        run = partial(_run_apart, self._plan, self._config.simulation.requires_grad)
        best, smallest = self._reference
        with progress.phase(f"{best} at {1e3 * smallest:g} ms"):
            truth, own = _trusted(run, best, smallest), _trusted(run, best, self._larger)
        self._doubt, self._way = distance(own, truth), distance(truth[:1].repeat(len(truth), axis=0), truth)
        for name in self._solvers:
            with progress.phase(name):
                for step in self._steps:
                    row, positions = run(BenchmarkRow(solver=name, problem=self._source[0].stem, dt=step))
                    self.rows.append(row if positions is None else _judged(row, positions, truth))
                    if row.outcome == "unable":
                        break  # a smaller step is refused, too

    def result(self, folder: Path) -> Benchmark | None:
        """Return the rows so far; None before the first one."""
        from .measuring import machine

        if not self.rows:
            return None
        file, (best, smallest), larger = self._source[0], self._reference, self._larger
        title = (
            f"{file.name}: distance to {best} at {1e3 * smallest:g} ms, root mean square over bodies and particles, at"
            f" worst; at {1e3 * larger:g} ms, {best} is {self._doubt:.2g} m from itself, so smaller errors say nothing"
        )
        span = float(self._plan.interval * self._plan.samples)
        problem = FileProblem(title=title, limit=self._limit or _LOST * self._way, duration=span)
        return Benchmark(
            rows=tuple(self.rows),
            problems={file.stem: problem},
            machine=machine(self._config.simulation.device),
            seconds=self.seconds,
            folder=folder,
            title=f"{file.name}: {self.kind}",
            worlds=self._config.scene.worlds,
            reference={"solver": best, "dt": smallest, "error": self._doubt},
        )


def distance(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest distance of two motions [m], each of shape [samples, points, 3]."""
    return float(np.sqrt(((ours - theirs) ** 2).sum(axis=2).mean(axis=1)).max())


def _judged(row: BenchmarkRow, positions: np.ndarray, truth: np.ndarray) -> BenchmarkRow:
    if positions.shape != truth.shape:
        reason = f"it has {positions.shape[1]} bodies and particles, and the reference {truth.shape[1]}"
        return attrs.evolve(row, outcome="failed", reason=reason)
    return attrs.evolve(row, error=distance(positions, truth))


def _reference(text: str | None, dt: Sequence[float]) -> tuple[str, float]:
    solver, at, step = (text or "").rpartition("@")
    try:
        smallest = float(step)
    except ValueError:
        smallest = math.nan
    if not (at and solver and smallest > 0.0):
        raise ConfigError(f"reference: with --dt, expected SOLVER@DT, as mujoco-native@1e-4, got {text!r}")
    for each in dt:
        if not (math.isfinite(each) and each > 0.0):
            raise ConfigError(f"dt: expected positive times in seconds, got {each!r}")
    if not smallest < min(dt):
        raise ConfigError(f"reference: its step of {smallest:g} s is not below {min(dt):g} s, the least of dt")
    return solver, smallest


def _limit(limits: Mapping[str, float] | None) -> float | None:
    for name, value in (limits or {}).items():
        if name != "distance":
            raise ConfigError(f"limit: with --dt, distance has a limit alone, not {name!r}")
        if not value > 0.0:
            raise ConfigError(f"limit: expected a positive distance in metres, got {value!r}")
    return (limits or {}).get("distance")


def _plan(
    config: SimulationConfig,
    what: tuple[Path, Overrides],
    steps: Sequence[float],
    duration: float | None,
    timeout: float,
) -> tuple[_Plan, float]:
    """Return the plan of all runs, and the larger step of the reference, which is last among the steps."""
    if not timeout > 0.0:
        raise ConfigError(f"timeout: expected a positive time in seconds, got {timeout!r}")
    whole = DEFAULT_DURATION if duration is None else duration
    if not (math.isfinite(whole) and whole > 0.0):
        raise ConfigError(f"duration: expected a positive time in seconds, got {duration!r}")
    whole = Fraction(repr(float(whole)))
    options, exact = config.simulation, [Fraction(repr(float(step))) for step in steps]
    if options.decimation > 1:
        period = Fraction(repr(options.dt)) * options.decimation
        wrong = [float(each) for each in exact if period % each]
        if wrong:
            raise ConfigError(
                f"dt: a control step of the file lasts {float(period):g} s, no multiple of {wrong[0]:g} s; take a step"
                " that divides it"
            )
        common = period
    else:
        period, common = None, exact[0]
        for each in exact:
            common = Fraction(
                math.lcm(common.numerator * each.denominator, each.numerator * common.denominator),
                common.denominator * each.denominator,
            )
    if whole % common:
        raise ConfigError(
            f"duration: {float(whole):g} s is no multiple of {float(common):g} s, which all steps divide; take one"
        )
    count = whole / common
    stride = next(each for each in range(1, int(count) + 1) if not count % each and count / each <= _SAMPLES)
    multiple = next(each for each in range(2, int(common / exact[-1]) + 2) if not (common / exact[-1]) % each)
    plan = _Plan(
        file=what[0],
        overrides=what[1],
        period=period,
        interval=common * stride,
        samples=int(count / stride),
        timeout=timeout,
    )
    return plan, float(exact[-1] * multiple)


_RunOf = Callable[[BenchmarkRow], tuple[BenchmarkRow, np.ndarray | None]]


def _trusted(run: _RunOf, solver: str, dt: float) -> np.ndarray:
    row, positions = run(BenchmarkRow(solver=solver, problem="", dt=dt))
    if positions is None:
        kind = ConfigError if row.outcome == "unable" else SimulationError
        raise kind(f"reference: {solver} at {dt:g} s: {row.reason}")
    return positions


def _run_apart(plan: _Plan, requires_grad: bool, row: BenchmarkRow) -> tuple[BenchmarkRow, np.ndarray | None]:
    """Return the row and the positions of a run in a process of its own; no positions if it did not finish."""
    preload = ("pippin_benchmark.measuring",)
    with WorkerProcess(row.solver, _run, plan, row, requires_grad=requires_grad, preload=preload) as process:
        try:
            return process.receive(plan.timeout)
        except (ConfigError, PluginError) as error:
            return attrs.evolve(row, outcome="unable", reason=" ".join(str(error).split())), None
        except SimulationError as error:
            return attrs.evolve(row, outcome="failed", reason=" ".join(str(error).split())), None


def _run(connection: Connection, plan: _Plan, row: BenchmarkRow) -> None:
    from .measuring import sampled

    with warnings.catch_warnings(action="ignore"):  # what a solver leaves out is in the row
        config = measurable(plan.file, plan.overrides, row.solver)
        ticks = 1 if plan.period is None else int(plan.period / Fraction(repr(row.dt)))
        simulation = attrs.evolve(config.simulation, dt=row.dt, decimation=ticks)
        stride = int(plan.interval / Fraction(repr(row.dt))) // ticks
        found = sampled(attrs.evolve(config, simulation=simulation), row, stride=stride, samples=plan.samples)
    connection.send(found)
