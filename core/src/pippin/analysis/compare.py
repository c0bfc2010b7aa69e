"""Comparison of solvers on one file: each runs in a fresh process, and all are timed and measured in the same way."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.config import SimulationConfig, load
from pippin.devices import warp_quiet
from pippin.errors import ConfigError, PluginError, SimulationError
from pippin.recording.series import Series
from pippin.runs.summary import throughput
from pippin.simulation import Simulation, import_hot_modules
from pippin.step.compilation import compile_step
from pippin.support.features import FEATURES
from pippin.workers import WorkerProcess

from . import measures
from .check import with_solver
from .measures import PenetrationProbe

__all__ = ["UNITS", "SolverRun", "compare", "measured_run"]

_SAMPLE_COUNT = 100
"""Largest number of samples of a run; the steps between two samples are timed without a break."""

_SAMPLED = {
    "kinetic_energy": "J",
    "energy": "J",
    "angle_limit_violation": "rad",
    "length_limit_violation": "m",
    "joint_gap": "m",
    "penetration": "m",
}
"""Quantities measured in each world at each sample, with their units."""

UNITS = {
    "world_steps_per_second": "1/s",
    "time_to_first_step": "s",
    "energy_drift": "J",
    "relative_energy_drift": "1",
    "angle_limit_violation": "rad",
    "length_limit_violation": "m",
    "joint_gap": "m",
    "penetration": "m",
    "distance": "m",
}
"""The figures of a result, with their units."""


@attrs.frozen(kw_only=True)
class SolverRun:
    """Result of one solver on a file. A figure is None if there was nothing to measure, or the run ended before."""

    solver: str
    """The solver's name."""

    outcome: str
    """"finished", "failed" (during the run) or "unable" (refused before the run)."""

    reason: str | None = None
    """Reason why the run did not finish."""

    ignored: tuple[str, ...] = ()
    """Features of the scene that the solver ignores: those that the file accepts to lose, and all that are only
    numbers if the file names another solver."""

    warnings: tuple[str, ...] = ()
    """Warnings of the run."""

    is_captured: bool | None = None
    """Whether the whole step was replayed from a graph."""

    first_diverged_step: int | None = None
    """The first control step whose result was not finite or beyond the bounds, counted from 1."""

    world_steps_per_second: float | None = None
    """Physics steps of all worlds per second, after the first control step [1/s]."""

    time_to_first_step: float | None = None
    """Time from the start of the process to the end of its first control step, with compilation [s]."""

    energy_drift: float | None = None
    """The largest change of mechanical energy since the start, in any world [J]."""

    relative_energy_drift: float | None = None
    """The energy drift in units of the largest kinetic energy that the reference reaches in any world."""

    angle_limit_violation: float | None = None
    """Largest violation of a joint's angle limits [rad]."""

    length_limit_violation: float | None = None
    """Largest violation of a joint's length limits [m]."""

    joint_gap: float | None = None
    """Largest distance between the two anchors of a joint [m]."""

    penetration: float | None = None
    """The deepest penetration of two rigid shapes [m]."""

    distance: float | None = None
    """Largest distance to the reference: root mean square over the positions of bodies and particles [m]."""

    series: Mapping[str, Series] = attrs.field(factory=dict, repr=False)
    """Samples by name: `time` and `distance`, shape [samples]; the others per world, shape [samples, world_count]."""

    def figures(self) -> dict[str, Any]:
        """Return everything but the series, as plain data."""
        return attrs.asdict(self, filter=lambda field, _: field.name != "series")


def compare(
    file: Path,
    overrides: Sequence[str],
    solvers: Sequence[str],
    steps: int,
    *,
    reference: str,
    timeout: float | None = None,
    phase: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> list[SolverRun]:
    """Return the result of each solver, in order. The solvers run one after the other, and share nothing.

    Args:
        file: A configuration file.
        overrides: Values that replace those of the file, as on the command line.
        solvers: Names of solvers. A solver that the file does not name runs with its defaults.
        steps: Control steps.
        reference: Solver whose positions the others are compared with.
        timeout: Longest time that a solver may take [s].
        phase: Called with each solver's name; the context manager that it returns is entered while the solver runs.
    """
    before = partial(import_hot_modules, requires_grad=load(file, overrides).simulation.requires_grad)
    results = []
    for solver in solvers:
        with phase(solver):
            results.append(_run_apart(file, overrides, solver, steps, timeout, before))
    return _related(results, reference)


def _run_apart(
    file: Path, overrides: Sequence[str], solver: str, steps: int, timeout: float | None, before: Callable[[], None]
) -> SolverRun:
    with WorkerProcess(solver, _run, file, overrides, solver, steps, time.time(), before=before) as process:
        try:
            return process.receive(timeout)
        except (ConfigError, PluginError) as error:
            return SolverRun(solver=solver, outcome="unable", reason=str(error))
        except SimulationError as error:
            return SolverRun(solver=solver, outcome="failed", reason=str(error))


def _run(connection: Connection, file: Path, overrides: Sequence[str], solver: str, steps: int, started: float) -> None:
    """Run the file, and send the result."""
    with warp_quiet(), warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        own, config = load(file, overrides).solver, with_solver(file, overrides, solver)
        is_own = own is not None and own.type == solver
        with Simulation(config if is_own else _accepting(config)) as simulation:
            result, _ = measured_run(simulation, steps, started)
    texts = tuple(dict.fromkeys(" ".join(str(warning.message).split()) for warning in noted))
    connection.send(attrs.evolve(result, solver=solver, warnings=texts))


def measured_run(
    simulation: Simulation, steps: int, started: float, begun: Callable[[], None] = lambda: None
) -> tuple[SolverRun, SimulationError | None]:
    """Step to the end or to the first failure; return the figures, and the failure if there was one.

    Args:
        simulation: The simulation, which was not stepped yet.
        steps: Control steps. The time of taking samples between them is not counted.
        started: Time at which the run began, in seconds since the epoch.
        begun: Called after the first step, when all is compiled.
    """
    samples = _Samples(simulation)
    initial = simulation.model.state()
    initial.assign(simulation.state)
    first, timed, elapsed, failure = None, 0, 0.0, None
    try:
        compile_step(simulation.program)
        simulation.step()
        first = time.time() - started
        begun()
        samples.take(initial, 0.0)
        simulation.raise_errors()
        for step in np.unique(np.linspace(1, steps, min(steps, _SAMPLE_COUNT)).round().astype(int)):
            start = time.perf_counter()
            simulation.step(int(step) - simulation.step_count)
            simulation.raise_errors()
            elapsed += time.perf_counter() - start
            timed = simulation.step_count - 1
            samples.take(simulation.state, simulation.time)
    except SimulationError as error:
        failure = error
    speed = throughput(simulation, timed, elapsed)
    ran = SolverRun(
        solver="",
        outcome="finished" if failure is None else "failed",
        reason=None if failure is None else str(failure),
        ignored=tuple(simulation.ignored_features),
        is_captured=simulation.program.is_captured,
        first_diverged_step=simulation.first_diverged_step,
        world_steps_per_second=speed["world_steps_per_second"],
        time_to_first_step=first,
        series=samples.series(),
    )
    return attrs.evolve(ran, **samples.figures()), failure


def _accepting(config: SimulationConfig) -> SimulationConfig:
    """Return a configuration that accepts the loss of numbers: the result says which ones the solver ignores."""
    numbers = [name for name, feature in FEATURES.items() if not feature.is_structural]
    accepted = (*config.simulation.accept_unsupported, *numbers)
    return attrs.evolve(config, simulation=attrs.evolve(config.simulation, accept_unsupported=accepted))


class _Samples:
    """Measurements of a run: one row of each quantity per sample."""

    def __init__(self, simulation: Simulation) -> None:
        self._model = simulation.model
        self._has_rotors = "armature" not in simulation.ignored_features
        self._probe: PenetrationProbe | None = None
        self._rows: dict[str, list[Any]] = {}

    def take(self, state: Any, now: float) -> None:
        """Measure a state at a time [s]."""
        model = self._model
        kinetic = measures.kinetic_energy(model, state, has_rotors=self._has_rotors)
        row = {
            "time": now,
            "kinetic_energy": kinetic,
            "energy": kinetic + measures.potential_energy(model, state),
            "angle_limit_violation": measures.limit_violation(model, state, "rad"),
            "length_limit_violation": measures.limit_violation(model, state, "m"),
            "joint_gap": measures.joint_gap(model, state),
            "penetration": self._penetration(state),
            "positions": measures.positions(model, state),
        }
        for name, value in row.items():
            if value is not None:
                self._rows.setdefault(name, []).append(value)

    def _penetration(self, state: Any) -> np.ndarray | None:
        if not self._model.shape_contact_pair_count:
            return None
        self._probe = self._probe or PenetrationProbe(self._model)
        return self._probe.depth(state)

    def figures(self) -> dict[str, float]:
        """Return the largest value of each quantity that is a figure of the result."""
        worst = {name: float(np.max(rows)) for name, rows in self._rows.items() if name in UNITS}
        energy = self._rows.get("energy")
        return worst if energy is None else worst | {"energy_drift": float(np.abs(np.array(energy) - energy[0]).max())}

    def series(self) -> dict[str, Series]:
        """Return the measurements over time, by name."""
        units = {"time": "s", "positions": "m", **_SAMPLED}
        return {name: Series(values=np.array(rows), units=(units[name],)) for name, rows in self._rows.items()}


def _related(results: Sequence[SolverRun], reference: str) -> list[SolverRun]:
    """Return the results with the figures that need the reference, and without the positions."""
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
