"""Speed of a robot, beside a loop over the same model and solver that is captured by hand."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import Simulation, structure
from pippin.arrays import on_host
from pippin.devices import find_device
from pippin.measuring import bytes_held

from .rows import Case
from .scenes import ROBOTS, tables

_SECONDS, _QUICK_SECONDS = 4.0, 0.5
"""Time of a comparison [s]."""

_BUILD_MAX = 60.0
"""Longest expected build [s]."""

_TURNS = 11


class BareLoop:
    """The loop of a user of Newton: the solver and its contacts, and nothing else."""

    def __init__(self, simulation: Simulation) -> None:
        model: Any = simulation.model
        self._dt, self._count = simulation.solver_dt, simulation.config.simulation.decimation
        self._states, self._control = (model.state(), model.state()), model.control()
        newton.eval_fk(model, model.joint_q, model.joint_qd, self._states[0])
        self._pipeline: Any = None
        self._contacts: Any = None
        solver: Any = simulation.solver
        if isinstance(solver, newton.solvers.SolverMuJoCo):
            data: Any = solver.mjw_data
            self._solver: Any = newton.solvers.SolverMuJoCo(
                model, njmax=data.njmax, nconmax=data.naconmax // data.nworld
            )
        else:
            self._solver = type(solver)(model)
            self._pipeline = newton.CollisionPipeline(model) if model.shape_contact_pair_count else None
            self._contacts = None if self._pipeline is None else self._pipeline.contacts()
        self._step()
        with wp.ScopedCapture(device=model.device) as capture:
            self._step()
        self._graph: Any = capture.graph

    def _step(self) -> None:
        state, other = self._states
        for _ in range(self._count):
            state.clear_forces()
            if self._pipeline is not None:
                self._pipeline.collide(state, self._contacts)
            self._solver.step(state, other, self._control, self._contacts, self._dt)
            state, other = other, state

    def step(self, count: int) -> None:
        """Take some control steps."""
        for _ in range(count):
            wp.capture_launch(self._graph)

    @property
    def joint_q(self) -> np.ndarray:
        """The joint coordinates."""
        return on_host(self._states[0].joint_q)


def measure_speed(case: Case) -> Iterator[dict[str, Any]]:
    """Yield the figures of more and more worlds, as far as memory and time suffice."""
    counts = (1,) if case.is_quick else (1, 64) if case.is_alone else (1, 64, 4096, 65536)
    size = slope = last = 0.0
    device = find_device(case.device)
    for before, worlds in pairwise((0, *counts)):
        free = np.inf if case.is_alone else 0.5 * device.free_memory
        needed, build = 2.0 * size * worlds, last + slope * (worlds - before)
        if needed > free or build > _BUILD_MAX:
            why = f"{needed / 1e9:.1f} GB" if needed > free else f"{build:.0f} s to build"
            yield {"worlds": worlds, "left out": f"{worlds} worlds would need {why}"}
            return
        start, config = time.perf_counter(), structure(tables(ROBOTS[case.robot], case.solver, worlds, case.device))
        with wp.ScopedDevice(device), Simulation(config) as simulation:
            simulation.step(2)
            seconds = time.perf_counter() - start
            slope, last = max(0.0, (seconds - last) / (worlds - before)) if before else 0.0, seconds
            size = bytes_held(simulation) / worlds
            yield _figures(case, simulation, size)


def _figures(case: Case, simulation: Simulation, size: float) -> dict[str, Any]:
    loop = BareLoop(simulation)
    loop.step(simulation.step_count - 1)  # it took one to compile
    budget = _QUICK_SECONDS if case.is_quick else _SECONDS
    once = max(_seconds(simulation.step, 2, simulation.device), _seconds(loop.step, 2, simulation.device)) / 2
    count = max(1, round(budget / (2 * _TURNS) / once))
    ratios, ours = [], []
    sides: dict[str, Callable[[int], None]] = {"ours": simulation.step, "theirs": loop.step}
    for turn in range(_TURNS):
        order = ("ours", "theirs") if turn % 2 else ("theirs", "ours")
        times = {side: _seconds(sides[side], count, simulation.device) for side in order}
        ratios.append(times["theirs"] / times["ours"])
        ours.append(times["ours"] / count)
    simulation.raise_errors()
    world_steps = simulation.world_count * simulation.config.simulation.decimation
    return {
        "robot": case.robot,
        "solver": case.solver,
        "worlds": simulation.world_count,
        "world_steps_per_second": world_steps / statistics.median(ours),
        "ratio": statistics.median(ratios),
        "has_same_bits": on_host(simulation.state.joint_q).tobytes() == loop.joint_q.tobytes(),
        "bytes_per_world": size,
    }


def _seconds(steps: Callable[[int], None], count: int, device: wp.Device) -> float:
    wp.synchronize_device(device)
    start = time.perf_counter()
    steps(count)
    wp.synchronize_device(device)
    return time.perf_counter() - start
