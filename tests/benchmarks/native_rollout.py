"""Throughput of `mujoco-native` beside MuJoCo's own threaded rollout: `python tests/benchmarks/native_rollout.py`.

Both sides run in this process, in turn, on the same `MjModel` and number of threads, from the same settled worlds:
Newton's ant, limp on the ground. MuJoCo's rollout gets all its steps in one call. Pippin hands back a Newton state
after each control step, which holds one step of MuJoCo, or four. It takes the four in one call, or in a call each where
something happens between them, as with actuators. "Bare" is that call of MuJoCo alone. A figure is the median of the
ratios of neighbouring runs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from itertools import product

import mujoco
import numpy as np
import pippin
import robots
from mujoco.batch import Batch
from mujoco.rollout import Rollout

DT = 0.005
CASES = {"1": (1, False), "4 in one call": (4, False), "4 in a call each": (4, True)}
"""MuJoCo's steps in a control step, and whether something happens between them."""
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS.value


class Between:
    """Does nothing, between any two steps."""

    @pippin.hookimpl
    def before_substep(self) -> None:
        """Do nothing."""


def ant(worlds: int, threads: int, steps: int, is_between: bool) -> pippin.Simulation:
    """Return limp ants that have come to rest on the ground."""
    config = pippin.structure(
        {
            "simulation": {"dt": DT, "decimation": steps, "device": "cpu"},
            "scene": {"worlds": worlds, "ground": True, "assets": [robots.ANT]},
            "solver": {"type": "mujoco-native", "threads": threads},
        }
    )
    simulation = pippin.Simulation(config, plugins=[Between()] if is_between else [])
    simulation.step(100)
    simulation.raise_errors()
    return simulation


def rollout(simulation: pippin.Simulation, threads: int, steps: int) -> Callable[[int], None]:
    """Return what rolls the simulation's worlds out by some control steps, from where they are now."""
    batch = simulation.solver.batch
    model = batch.get_model(0)
    # One thread is the caller's: a pool of one only hands over.
    pool = Rollout(nthread=threads if threads > 1 else 0)
    data = [mujoco.MjData(model) for _ in range(threads)]
    start = np.stack([state_of(model, batch.get_data(world)) for world in range(batch.nsim)])

    def advance(count: int) -> None:
        pool.rollout([model] * batch.nsim, data, start, nstep=count * steps)

    return advance


def bare_steps(simulation: pippin.Simulation, threads: int, steps: int, is_between: bool) -> Callable[[int], None]:
    """Return what calls the engine as often, over the same worlds, and converts nothing."""
    ours = simulation.solver.batch
    batch = Batch(ours.get_model(0), ours.nsim, threads)
    batch.state[:] = ours.state

    together = 1 if is_between else steps

    def advance(count: int) -> None:
        for _ in range(count * steps // together):
            batch.step(nstep=together)

    return advance


def state_of(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return what a rollout starts from."""
    state = np.empty(mujoco.mj_stateSize(model, STATE))
    mujoco.mj_getState(model, data, state, STATE)
    return state


def seconds(advance: Callable[[int], None], count: int) -> float:
    """Return how long `count` control steps take [s]."""
    start = time.perf_counter()
    advance(count)
    return time.perf_counter() - start


def measure(worlds: int, threads: int, case: str, budget: float) -> dict[str, float]:
    """Return the world-steps per second of the rollout, and the ratios of the others to it."""
    steps, is_between = CASES[case]
    with ant(worlds, threads, steps, is_between) as simulation:
        theirs = rollout(simulation, threads, steps)
        sides = {"ours": simulation.step, "bare": bare_steps(simulation, threads, steps, is_between)}
        count = max(2, round(budget / 100 / (seconds(theirs, 10) / 10)))
        times: dict[str, list[float]] = {"theirs": [], "ours": [], "bare": []}
        for turn in range(31):
            order = [("theirs", theirs), *sides.items()]
            for name, advance in order if turn % 2 else reversed(order):
                times[name].append(seconds(advance, count))
        row = {"theirs": worlds * steps * count / statistics.median(times["theirs"])}
        for name in sides:
            row[name] = statistics.median(np.divide(times["theirs"], times[name]))
        return row


def main() -> None:
    """Print a table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, nargs="+", default=[1, 64, 512])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seconds", type=float, default=15.0, help="time for each line")
    arguments = parser.parse_args()
    print(
        "| threads | worlds | steps in a control step | rollout [world-steps/s] | Pippin ÷ rollout | bare ÷ rollout |"
    )
    print("|---|---|---|---|---|---|")
    for threads, worlds, case in product(arguments.threads, arguments.worlds, arguments.cases):
        row = measure(worlds, threads, case, arguments.seconds)
        print(
            f"| {threads} | {worlds} | {case} | {row['theirs']:,.0f} | {row['ours']:.3f} | {row['bare']:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    from pippin.devices import leave_out_backward_kernels

    leave_out_backward_kernels()
    main()
