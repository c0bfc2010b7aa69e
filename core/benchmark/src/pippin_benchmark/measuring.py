"""Measured runs of benchmark problems: the error, the cost, and what the world did not keep."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import ConfigError, PippinError, Simulation, SimulationConfig, structure
from pippin.arrays import on_host
from pippin.assembly import build_poses
from pippin.devices import find_device, kind_of
from pippin.measuring import accepting_numbers, kinetic_energy, positions, potential_energy
from pippin.quaternions import conjugate, rotated

from .problem import SAMPLE, BenchmarkProblem, ProblemMotion
from .result import BenchmarkRow
from .solvers import solver_table

_PLACES = ("body_q", "body_qd", "particle_q", "particle_qd")

_STATE = {"body_q": 7, "body_qd": 6, "joint_q": 0, "joint_qd": 0, "particle_q": 3, "particle_qd": 3}
"""Arrays of a state that are kept, with the numbers in a row."""


class Stopwatch:
    """The cost of steps: the time of all threads of the process on a CPU, so that others on the machine do not count.

    On Linux, that of the processes that it has started is in it: an engine may be in one. On a GPU it is the time until
    the device has finished.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._device = simulation.model.device
        self._simulation = simulation
        #: Time so far [s].
        self.seconds: float = 0.0

    def step(self, steps: int) -> None:
        """Take control steps, and add their time."""
        start = self._now()
        self._simulation.step(steps)
        self.seconds += self._now() - start

    def _now(self) -> float:
        if kind_of(self._device) == "cpu":
            return time.process_time() + started_seconds()
        wp.synchronize_device(self._device)
        return time.perf_counter()


def started_seconds() -> float:
    """Return the time of all threads of the processes that this one has started, and that still run [s]."""
    started = " ".join(file.read_text() for file in Path("/proc/self/task").glob("*/children"))
    return sum(time.clock_gettime(~int(each) << 3 | 2) for each in started.split())  # Linux: clock of a process


def machine(device: str) -> str:
    """Return the name of the processor, or of the GPU."""
    found = find_device(device)
    if kind_of(found) != "cpu":
        return found.name
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def measured(
    problem: BenchmarkProblem, row: BenchmarkRow, options: Mapping[str, Any], *, device: str | None, patience: float
) -> BenchmarkRow:
    """Complete a row, which has the names and the step, with what a solver did in a problem.

    A run that would cost more than `patience` [s] ends early. By default, the device is that of `simulation.device`.
    """
    with warnings.catch_warnings(action="ignore"):  # what a solver leaves out is in the row
        try:
            with _simulation(problem, row, options, device, worlds=1) as simulation:
                return _run(problem, row, simulation, patience)
        except ConfigError as error:
            return attrs.evolve(row, outcome="unable", reason=" ".join(str(error).split()))
        except PippinError as error:
            return attrs.evolve(row, outcome="failed", reason=" ".join(str(error).split()))


def cost_per_step(
    problem: BenchmarkProblem, row: BenchmarkRow, options: Mapping[str, Any], *, device: str | None, worlds: int
) -> float | None:
    """Return the time of a step of a world among many [s], or None if the solver cannot run the problem."""
    with warnings.catch_warnings(action="ignore"):
        try:
            with _simulation(problem, row, options, device, worlds=worlds) as simulation:
                return _cost(simulation, _stride(row.dt)) / worlds
        except PippinError:
            return None


def sampled(
    config: SimulationConfig, row: BenchmarkRow, *, stride: int, samples: int
) -> tuple[BenchmarkRow, np.ndarray | None]:
    """Return a row with what a solver did on a file, and the positions of bodies and particles.

    Args:
        config: The configuration.
        row: The row, with the names and the step.
        stride: Control steps from sample to sample.
        samples: Samples after the start.

    Returns:
        The row, and the positions [m] at the start and all samples, shape [samples + 1, points, 3]; None if the run
        did not finish.

    Raises:
        PippinError: The simulation cannot be built, or its run failed.
    """
    with Simulation(config) as simulation:
        row = attrs.evolve(row, ignored=tuple(simulation.ignored_features))
        simulation.step()
        simulation.reset()
        watch, kept = Stopwatch(simulation), [positions(simulation.model, simulation.state)]
        for _ in range(samples):
            watch.step(stride)
            kept.append(positions(simulation.model, simulation.state))
            if not np.isfinite(kept[-1]).all():
                reason = f"the state is not finite at {simulation.time:g} s"
                return attrs.evolve(row, outcome="failed", reason=reason), None
        simulation.raise_errors()
        cost = watch.seconds / simulation.time / simulation.world_count
        return attrs.evolve(row, outcome="finished", cost=cost), np.array(kept)


def _simulation(
    problem: BenchmarkProblem, row: BenchmarkRow, options: Mapping[str, Any], device: str | None, worlds: int
) -> Simulation:
    tables: dict[str, Any] = {
        "simulation": {"dt": row.dt, **({} if device is None else {"device": device})},
        "scene": {"worlds": worlds, **problem.tables()},
        "solver": {**solver_table(row.solver), **options},
    }
    return Simulation(accepting_numbers(structure(tables)), prototype=prototype_of(problem))


def prototype_of(problem: BenchmarkProblem) -> newton.ModelBuilder | None:
    """Return what a problem builds for one world; None if its content is in its tables.

    Bodies are placed by their joints, which some solvers take as the places to which the angles at the start belong.
    """
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    problem.build(builder)
    if builder.joint_count:
        model: Any = builder.finalize(device="cpu")
        newton.eval_fk(model, model.joint_q, model.joint_qd, model)
        builder.body_q = [wp.transform(*row) for row in model.body_q.numpy().tolist()]
    return builder if builder.body_count or builder.particle_count or builder.shape_count else None


def still_motion(problem: BenchmarkProblem) -> ProblemMotion:
    """Return the motion of a world in which nothing moves; no solver takes part."""
    prototype = prototype_of(problem)
    model: Any
    if prototype is None:
        model = build_poses(structure({"scene": dict(problem.tables())}), 1).model
    else:
        model = prototype.finalize(device="cpu")
    return _motion(_stacked([_arrays(model.state())] * (round(problem.duration / SAMPLE) + 1)))


def _stride(dt: float) -> int:
    return round(SAMPLE / dt)


def _cost(simulation: Simulation, steps: int) -> float:
    """Return the time of a control step of all worlds [s], after the first one."""
    simulation.step()
    watch = Stopwatch(simulation)
    watch.step(steps)
    return watch.seconds / steps


def _run(problem: BenchmarkProblem, row: BenchmarkRow, simulation: Simulation, patience: float) -> BenchmarkRow:
    row = attrs.evolve(row, ignored=tuple(simulation.ignored_features))
    stride, count = _stride(row.dt), round(problem.duration / SAMPLE)
    cost = _cost(simulation, min(stride, 5))
    simulation.reset()
    watch, kept = Stopwatch(simulation), [_arrays(simulation.state)]
    for _ in range(count):
        if watch.seconds + cost * stride > patience:
            cost = max(cost, watch.seconds / max(simulation.step_count, 1))
            reason = f"a simulated second costs {cost / row.dt:.3g} s"
            return attrs.evolve(row, outcome="slow", reason=reason, cost=cost / row.dt)
        watch.step(stride)
        kept.append(_arrays(simulation.state))
        if not all(np.isfinite(value).all() for value in kept[-1].values()):
            return attrs.evolve(row, outcome="failed", reason=f"the state is not finite at {simulation.time:g} s")
    simulation.raise_errors()
    states = _stacked(kept)
    return attrs.evolve(
        row,
        outcome="finished",
        error=problem.error(_motion(states)),
        cost=watch.seconds / problem.duration,
        **_drifts(problem, simulation.model, states),
    )


def _arrays(state: Any) -> dict[str, np.ndarray]:
    """Return copies of the arrays of a state; a world without bodies, or without particles, has empty ones."""
    arrays = {name: getattr(state, name) for name in _STATE}
    return {name: np.zeros((0, _STATE[name])) if own is None else own.numpy().copy() for name, own in arrays.items()}


def _stacked(kept: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.array([each[name] for each in kept]) for name in kept[0]}


def _motion(states: Mapping[str, np.ndarray]) -> ProblemMotion:
    bodies, speeds, particles, particle_speeds = (states[name].astype(float) for name in _PLACES)
    return ProblemMotion(
        times=SAMPLE * np.arange(len(bodies)),
        poses=bodies,
        velocities=speeds,
        particles=particles,
        particle_velocities=particle_speeds,
    )


def _drifts(problem: BenchmarkProblem, model: newton.Model, states: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return the largest changes of what the world keeps: of its energy, in units of the largest kinetic energy, and of
    its angular momentum, in units of that of the start.
    """
    found: dict[str, Any] = {}
    state: Any = SimpleNamespace(**states)
    if "energy" in problem.conserves:
        kinetic = kinetic_energy(model, state)[:, 0]
        energy = kinetic + potential_energy(model, state)[..., 0]
        found["energy_drift"] = float(np.abs(energy - energy[0]).max() / kinetic.max())
    if "angular momentum" in problem.conserves:
        turns, spins = states["body_q"][:, 0, 3:].astype(float), states["body_qd"][:, 0, 3:].astype(float)
        own = rotated(conjugate(turns), spins)
        momentum = rotated(turns, own @ on_host(model.body_inertia)[0].astype(float).T)
        change = np.linalg.norm(momentum - momentum[0], axis=1).max()
        found["momentum_drift"] = float(change / np.linalg.norm(momentum[0]))
    return found
