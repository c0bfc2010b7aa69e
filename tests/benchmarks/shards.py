"""Two processes beside one, and what their exchange costs: `uv run python tests/benchmarks/shards.py [--worlds N]`.

Ants with PD legs, an IMU and contacts of feet, on `mujoco` and `xpbd`: free-running (`ShardedSimulation`) and in
lock-step every control step (`VectorEnv`), each beside the same in this process. Both sides take turns, and medians are
printed with the load of the machine: other work makes the ratio smaller. The exchange is a step of an environment whose
workers simulate nothing.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pippin
from pippin.config import SimulationConfig
from pippin.sharding import ShardedSimulation
from pippin_task.gym import VectorEnv, sharded_worlds
from pippin_task.gym.local_worlds import EnvShardWorker

ANT = Path(__file__).parents[2] / "docs/examples/ant.toml"
TASK = {
    "actions": {"legs": {"type": "joint-targets", "actuator": "legs", "scale": 0.5}},
    "observations": {
        "policy": {
            "positions": {"of": "joint-positions", "noise": 0.01},
            "velocities": {"of": "joint-velocities"},
            "efforts": {"of": "joint-efforts"},
            "rates": {"of": {"type": "sensor", "sensor": "torso", "output": "angular_velocity"}},
        }
    },
    "rewards": {"alive": {"type": "alive", "weight": 1.0}},
    "episode_length": 2.0,
}
SUBSTEPS = {"mujoco": 2, "xpbd": 4}

Step = Callable[[], object]


class IdleWorker(EnvShardWorker):
    """A shard whose worlds take no steps."""

    def __init__(self, config: SimulationConfig, checkpoint: Path | None, source: str, signals: socket.socket) -> None:
        super().__init__(config, checkpoint, source, signals)
        self._worlds.step = lambda **_: None


def overrides(solver: str, worlds: int) -> dict[str, Any]:
    """Return the settings of a case."""
    return {
        "simulation.device": "cpu",
        "simulation.substeps": SUBSTEPS[solver],
        "simulation.accept_unsupported": [] if solver == "mujoco" else ["armature", "joint_damping"],
        "scene.worlds": worlds,
        "solver": {"type": solver, "extends": False},
    }


def ratio(one: Step, two: Step, turns: int, spell: float) -> str:
    """Return the median of the times of one process over those of two, with the medians of both, as cells."""
    began = time.perf_counter()
    for step in (one, two, one, two):
        step()
    count = max(1, round(spell / (time.perf_counter() - began) * 4))
    times: list[list[float]] = []
    for turn in range(turns):
        taken = [0.0, 0.0]
        for side in (0, 1) if turn % 2 else (1, 0):
            began = time.perf_counter()
            for _ in range(count):
                (one, two)[side]()
            taken[side] = (time.perf_counter() - began) / count
        times.append(taken)
    medians = [statistics.median(column) * 1e3 for column in zip(*times, strict=True)]
    gain = statistics.median(single / double for single, double in times)
    return f"{gain:.2f} | {medians[0]:.1f} | {medians[1]:.1f} | {os.getloadavg()[0]:.1f}"


def free(solver: str, worlds: int, turns: int, spell: float) -> str:
    """Compare a simulation with one in two processes, ten steps a call."""
    settings = overrides(solver, worlds)
    with (
        pippin.Simulation.from_file(ANT, settings) as one,
        ShardedSimulation(ANT, shards=2, overrides=settings) as two,
    ):
        return ratio(lambda: one.step(10), lambda: two.step(10), turns, spell)


def in_step(solver: str, worlds: int, turns: int, spell: float) -> str:
    """Compare an environment with one in two processes."""
    settings = {**overrides(solver, worlds), "task": TASK}
    envs = [VectorEnv(ANT, overrides=settings, shards=shards) for shards in (None, 2)]
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, envs[0].action_space.shape).astype(np.float32)
    for env in envs:
        env.reset(seed=0)
    found = ratio(lambda: envs[0].step(actions), lambda: envs[1].step(actions), turns, spell)
    for env in envs:
        env.close()
    return found


def exchange(worlds: int, turns: int) -> tuple[float, float]:
    """Return the medians of an exchange of actions and results, and of a whole step of the environment [µs]."""
    worker, sharded_worlds.EnvShardWorker = sharded_worlds.EnvShardWorker, IdleWorker
    env = VectorEnv(ANT, overrides={**overrides("xpbd", worlds), "task": TASK}, shards=2)
    sharded_worlds.EnvShardWorker = worker
    env.reset()
    actions = np.zeros(env.action_space.shape, dtype=np.float32)

    def exchanged() -> None:
        env._write_action(actions)
        env._worlds.step(reads_flags=True)
        env.observe()

    found = []
    for step in (exchanged, lambda: env.step(actions)):
        times = []
        for _ in range(turns):
            began = time.perf_counter()
            step()
            times.append(time.perf_counter() - began)
        found.append(statistics.median(times) * 1e6)
    env.close()
    return found[0], found[1]


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=512)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--spell", type=float, default=1.0, help="time of one side in a turn [s]")
    parser.add_argument("--solvers", nargs="*", default=["mujoco", "xpbd"])
    chosen = parser.parse_args()
    began = time.perf_counter()
    print("| solver | how | one ÷ two processes | one [ms] | two [ms] | load |\n|---|---|---|---|---|---|")
    for solver in chosen.solvers:
        for name, compare in (("free-running, 10 steps", free), ("lock-step", in_step)):
            cells = compare(solver, chosen.worlds, chosen.turns, chosen.spell)
            print(f"| {solver} | {name} | {cells} |", flush=True)
    alone, whole = exchange(64, 5000)
    load = os.getloadavg()[0]
    print(f"\nexchange of 64 worlds with two workers: {alone:.0f} µs; a whole step: {whole:.0f} µs; load {load:.1f}")
    print(f"taken: {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
