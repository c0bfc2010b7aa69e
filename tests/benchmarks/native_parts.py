"""Parts of a step of `mujoco-native` beside MuJoCo's own: `python tests/benchmarks/native_parts.py`.

The scene is that of `native_rollout.py`: limp ants on the ground, one step of MuJoCo in each step. The first table
holds the calmest steps of a run, in which other processes disturbed least; their parts add up. The second table holds
other ways to do the serial part, in turns, as a ratio to the present one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from queue import SimpleQueue
from typing import Any

import mujoco
import numpy as np
import pippin
import warp as wp
from mujoco.batch import Batch
from native_rollout import ant, rollout

CALM = 0.05
"""Part of the steps that counts as calm."""

POSES = ("xpos", "xquat", "cvel", "subtree_com")
"""MuJoCo's fields that give the poses and velocities of bodies."""


class Timed:
    """Calls a function, and keeps how long each call took [s]."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.seconds = function, list[float]()

    def __call__(self, *args: Any, **arguments: Any) -> Any:
        """Call the function."""
        start = time.perf_counter()
        result = self.function(*args, **arguments)
        self.seconds.append(time.perf_counter() - start)
        return result


def parts(simulation: pippin.Simulation, threads: int, count: int) -> dict[str, float]:
    """Return how long each part of a calm step takes [µs]; the time in Python between them is a part, too."""
    solver = simulation.solver
    before, stepping, after = (Timed(call) for segment in simulation.program.segments for call in segment.calls())
    rolling = {number: Timed(partial(rollout(simulation, threads, number), 1)) for number in (1, 10)}
    inner = {
        "MuJoCo": Timed(solver.batch.step),
        "read coordinates": Timed(solver._read),
        "write inputs": Timed(solver._inputs.write),
        "write coordinates": Timed(solver._write),
    }
    solver.batch.step, solver._read, solver._inputs.write, solver._write = inner.values()
    step = Timed(lambda: [part() for part in (before, stepping, after)])
    for number in range(count):
        step()
        if number % 10 == 0:
            for roll in rolling.values():
                roll()
    calm = calmest(step)
    outer = {"graph before": before, "graph after: eval_fk, monitor, copies": after}
    row = {name: 1e6 * float(np.mean(np.asarray(part.seconds)[calm])) for name, part in (inner | outer).items()}
    total = 1e6 * float(np.mean(np.asarray(step.seconds)[calm]))
    row |= {"Python between them": total - sum(row.values()), "step": total}
    for number, roll in rolling.items():
        taken = 1e6 * float(np.mean(np.asarray(roll.seconds)[calmest(roll)])) / number
        row[f"MuJoCo's rollout, {number} in a call, a step"] = taken
    return row


def calmest(timed: Timed) -> np.ndarray:
    """Return the indices of the fastest calls."""
    return np.argsort(timed.seconds)[: max(1, round(CALM * len(timed.seconds)))]


def replays(simulation: pippin.Simulation) -> dict[str, float]:
    """Return how long a replay of each operation outside the solver takes, over and over [µs]."""
    row = {}
    for operation in simulation.program.operations:
        if operation.eager_reason is None:
            with wp.ScopedCapture(device="cpu") as capture:
                operation.run()
            timed = Timed(lambda graph=capture.graph: wp.capture_launch(graph))
            for _ in range(2000):
                timed()
            row[operation.name] = 1e6 * statistics.median(timed.seconds)
    return row


def shares(model: Any, state: np.ndarray, count: int) -> Callable[[], None]:
    """Return a step of as many batches as threads, each with a fixed share of the worlds and a Python thread."""
    parts = [Batch(model, len(rows), 1) for rows in np.array_split(state, count)]
    for part, rows in zip(parts, np.array_split(state, count), strict=True):
        part.state[:] = rows
    jobs, done = SimpleQueue[Callable[[], None]](), SimpleQueue[None]()

    def work() -> None:
        while True:
            jobs.get()()
            done.put(None)

    for _ in parts[1:]:
        threading.Thread(target=work, daemon=True).start()

    def step() -> None:
        for part in parts[1:]:
            jobs.put(part.step)
        parts[0].step()
        for _ in parts[1:]:
            done.get()

    return step


def alternatives(simulation: pippin.Simulation, threads: int, turns: int) -> Mapping[str, float]:
    """Return the time of other ways to call MuJoCo, as a ratio to a plain call for all worlds."""
    ours = simulation.solver.batch
    worlds, model = ours.nsim, ours.get_model(0)
    stage = mujoco.mjtStage

    def batch(*, persistent: bool = False, poses: bool = False) -> Batch:
        made = Batch(model, worlds, threads, persistent)
        made.state[:] = ours.state
        for name in POSES if poses else ():
            made.bind(name)
        return made

    plain, halved, posed = batch(), batch(), batch(poses=True)
    kept, kept_posed = batch(persistent=True), batch(persistent=True, poses=True)
    halves = np.array_split(np.arange(worlds, dtype=np.int32), 2)
    ways: dict[str, Callable[[], Any]] = {
        "all worlds": plain.step,
        "two halves": lambda: [halved.step(half) for half in halves],
        "a batch per thread": shares(model, np.array(ours.state), threads),
        "poses from MuJoCo": lambda: posed.step(stage=stage.mjSTAGE_POS.value),
        "an MjData per world": kept.step,
        "poses from an MjData per world": lambda: kept_posed.step(stage=stage.mjSTAGE_VEL.value),
    }
    times = {name: [] for name in ways}
    for turn in range(turns):
        for name in ways if turn % 2 else reversed(ways):
            timed = Timed(ways[name])
            for _ in range(20):
                timed()
            times[name].append(statistics.median(timed.seconds))
    return {name: statistics.median(np.divide(taken, times["all worlds"])) for name, taken in times.items()}


def main() -> None:
    """Print tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--steps", type=int, default=6000)
    arguments = parser.parse_args()
    with ant(arguments.worlds, arguments.threads, 1, is_between=False) as simulation:
        for title, row in (
            ("ratio to a call for all worlds", alternatives(simulation, arguments.threads, 61)),
            ("replayed over and over [µs]", replays(simulation)),
            ("part of a calm step [µs]", parts(simulation, arguments.threads, arguments.steps)),
        ):
            print(f"| {title} | |\n|---|---|")
            for name, value in row.items():
                print(f"| {name} | {value:.2f} |", flush=True)
            print()


if __name__ == "__main__":
    from pippin.devices import leave_out_backward_kernels

    leave_out_backward_kernels()
    main()
