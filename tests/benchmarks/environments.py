"""Throughput of tasks as environments: beside their bare simulations, Gymnasium's processes, and EnvPool.

    uv run --group dev --group robots --with envpool python tests/benchmarks/environments.py

Both sides of a row run in turn in one process, and a figure is the median of the ratios of neighbouring turns.
Gymnasium's environments are `Ant-v5` in one process for each; EnvPool's, if it is installed (`uv run --with envpool`),
run on all cores. They take the same substeps and the same random actions. The last table is for other tasks, on
`mujoco-native`; the humanoid of EnvPool observes 348 numbers, and ours 45. Both give the call after the end of an
episode to its reset: no physics happens there, so it does not count as a step of theirs. Ours reset in the same step.

The rough ground has stairs, slopes and a scan of 187 rays below each Go1, whose file is in the group `robots`. Its bare
simulation is the scene without the task, once with the sensors that the task reads, and once without any.

"Rollout alone" is not an environment: MuJoCo takes the same steps of the same model on all cores, and nothing else
happens. No environment that takes MuJoCo's steps can be faster, so these rows bound the others.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import gymnasium
import mujoco
import numpy as np
import pippin
import pippin_task.gym
from in_turn import in_turn
from mujoco.rollout import Rollout

ANT = pippin_task.gym.TASKS["Pippin/Ant-v0"]
ROUGH = Path(__file__).parents[2] / "docs" / "examples" / "robots" / "go1_rough.toml"
BESIDE_ENVPOOL = ("Hopper", "Walker2d", "HalfCheetah", "Humanoid")
OVERRIDES = {"simulation.device": "cpu", "simulation.capture": "require"}

ALONE = "rollout alone"

Repeat = Callable[[int], int | None]
"""Takes some steps, and perhaps returns how many calls of worlds were none, but resets."""


def on(solver: str) -> dict[str, Any]:
    """Return what chooses a solver on the CPU; one whose steps can be recorded must record them."""
    return OVERRIDES if solver == "mujoco" else {"simulation.device": "cpu", "solver.type": solver}


def ours(
    worlds: int, solver: str, random: bool, file: Path = ANT, **more: object
) -> tuple[pippin_task.gym.VectorEnv, Repeat]:
    """Return the environment, and what takes some steps of it."""
    overrides = {**on(solver), **more}
    env = pippin_task.gym.VectorEnv(file, num_envs=worlds, overrides=overrides)
    env.reset(seed=0)
    return env, stepping(env.step, actions(env.action_space.shape, random))


def actions(shape: tuple[int, ...], random: bool) -> list[np.ndarray]:
    """Return some actions of all worlds: at random, or zero."""
    rng = np.random.default_rng(0)
    strength = 1.0 if random else 0.0
    return [rng.uniform(-strength, strength, shape).astype(np.float32) for _ in range(64)]


def stepping(step: Callable[[Any], object], chosen: Sequence[Any]) -> Repeat:
    """Return what calls `step` some times, with one choice after the other."""

    def repeat(count: int) -> None:
        for index in range(count):
            step(chosen[index % len(chosen)])

    return repeat


def beside_bare(worlds: int, file: Path = ANT, solver: str = "mujoco", **removed: Any) -> float:
    """Return the environment's speed over that of the same scene without its task, both at rest in the same pose.

    Args:
        worlds: The number of worlds.
        file: The file of the task.
        solver: The solver of both.
        **removed: Parts of the configuration that the scene has in place of those of the file.
    """
    own: dict[str, Any] = {key: {"extends": False} for key in ("task.events", "task.curricula")}
    env, first = ours(worlds, solver, random=False, file=file, **own)
    config = pippin.config.load(file, {**on(solver), **own, "scene.worlds": worlds})
    with pippin.Simulation(attrs.evolve(config, task=None, **removed)) as bare:
        for step in (lambda: first(1), bare.step):
            for _ in range(100):  # the robots land
                step()
        found = [theirs / own for own, theirs in in_turn(first, bare.step, "cpu")]
    env.close()
    return statistics.median(found)


def rollout_alone(worlds: int) -> tuple[pippin_task.gym.VectorEnv, Repeat]:
    """Return an environment, and what rolls out control steps of its worlds, each from where it once came."""
    env, walk = ours(worlds, "mujoco-native", random=True)
    batch = env.simulation.solver.batch
    parts = (mujoco.mjtState.mjSTATE_FULLPHYSICS, mujoco.mjtState.mjSTATE_CTRL, mujoco.mjtState.mjSTATE_WARMSTART)
    starts = []
    for _ in range(16):
        walk(7)
        every = (states(batch, world, parts) for world in range(worlds))
        starts.append([np.stack(rows) for rows in zip(*every, strict=True)])
    model, threads, times = batch.get_model(0), os.cpu_count() or 1, env.simulation.config.simulation.decimation
    pool, data = Rollout(nthread=threads), [mujoco.MjData(model) for _ in range(threads)]

    def step(start: list[np.ndarray]) -> None:
        state, inputs, warm = start
        inputs = np.repeat(inputs[:, None], times, axis=1)
        pool.rollout([model] * worlds, data, state, inputs, nstep=times, initial_warmstart=warm)

    return env, stepping(step, starts)


def states(batch: Any, world: int, parts: tuple[mujoco.mjtState, ...]) -> list[np.ndarray]:
    """Return parts of the state of one world."""
    model, data = batch.get_model(world), batch.get_data(world)
    found = [np.empty(mujoco.mj_stateSize(model, part.value)) for part in parts]
    for values, part in zip(found, parts, strict=True):
        mujoco.mj_getState(model, data, values, part.value)
    return found


def beside(
    worlds: int, solver: str, theirs: Repeat, spells: int, steps: int, file: Path = ANT
) -> tuple[float, float, float]:
    """Return our speed over theirs, and both [environment steps/s]."""
    env, first = rollout_alone(worlds) if solver == ALONE else ours(worlds, solver, random=True, file=file)
    first(50)
    theirs(10)
    speeds = []
    for _ in range(spells):
        speeds.append([])
        for side in (first, theirs):
            start = time.perf_counter()
            resets = side(steps) or 0
            speeds[-1].append((worlds * steps - resets) / (time.perf_counter() - start))
    env.close()
    own, other = (statistics.median(column) for column in zip(*speeds, strict=True))
    return statistics.median(own / other for own, other in speeds), own, other


def without_resets(env: Any, chosen: Sequence[np.ndarray]) -> Callable[[int], int]:
    """Return what takes some steps of an environment, and returns how many calls of its worlds were resets."""
    has_ended = np.zeros(len(chosen[0]), dtype=bool)

    def repeat(count: int) -> int:
        resets, ended = 0, has_ended
        for index in range(count):
            resets += int(ended.sum())
            _, _, terminated, truncated, _ = env.step(chosen[index % len(chosen)])
            ended = terminated | truncated
        has_ended[:] = ended
        return resets

    return repeat


def gymnasium_processes(worlds: int) -> tuple[object, Repeat]:
    """Return Gymnasium's environments in processes, without the forces of contacts, and what steps them."""
    settings = {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.0}
    env = gymnasium.make_vec("Ant-v5", num_envs=worlds, vectorization_mode="async", **settings)
    env.reset(seed=0)
    return env, without_resets(env, actions(env.action_space.shape, random=True))


def envpool_threads(worlds: int, name: str = "Ant") -> tuple[Any, Repeat] | None:
    """Return EnvPool's environments, and what steps them; None if it is not installed."""
    try:
        import envpool
    except ImportError:
        return None
    env = envpool.make(f"{name}-v5", env_type="gymnasium", num_envs=worlds, seed=0)
    env.reset()
    chosen = [each.astype(np.float64) for each in actions((worlds, *env.action_space.shape), random=True)]
    return env, without_resets(env, chosen)


def islands_searched(name: str, steps: int = 2000) -> float:
    """Return the time of MuJoCo's step with the search for islands over that without, of a robot that is one tree."""
    env, _ = ours(1, "mujoco-native", random=True, file=pippin_task.gym.TASKS[f"Pippin/{name}-v0"])
    without = copy.copy(env.simulation.solver.mj_model)
    without.opt.timestep = env.simulation.config.simulation.dt
    env.close()
    searched = copy.copy(without)
    searched.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    inputs = np.random.default_rng(0).uniform(-0.4, 0.4, (steps, without.nu))

    def repeat(model: Any) -> Repeat:
        data = mujoco.MjData(model)

        def step(count: int) -> None:
            mujoco.mj_resetData(model, data)
            for index in range(count):
                data.ctrl[:] = inputs[index % steps]
                mujoco.mj_step(model, data)

        return step

    return statistics.median(own / other for own, other in in_turn(repeat(searched), repeat(without), "cpu"))


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--spells", type=int, default=9)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--bare", type=int, nargs="*", default=[64, 512])
    parser.add_argument("--rough", type=int, nargs="*", default=[64])
    chosen = parser.parse_args()
    print("| worlds | environment ÷ bare simulation |\n|---|---|")
    for worlds in chosen.bare:
        print(f"| {worlds} | {beside_bare(worlds):.3f} |", flush=True)
    print("\n| worlds on rough ground | ÷ bare with sensors | ÷ bare without |\n|---|---|---|")
    for worlds in chosen.rough:
        ratios = [beside_bare(worlds, ROUGH, "mujoco-native", **removed) for removed in ({}, {"sensors": {}})]
        print(f"| {worlds} | {ratios[0]:.3f} | {ratios[1]:.3f} |", flush=True)
    print("\n| beside | our solver | ratio | ours [environment steps/s] | theirs |\n|---|---|---|---|---|")
    for name, make in (("AsyncVectorEnv", gymnasium_processes), ("EnvPool", envpool_threads)):
        made = make(chosen.worlds)
        if made is None:
            print(f"| {name} | not installed | | | |")
            continue
        env, theirs = made
        for solver in ("mujoco", "mujoco-native", ALONE):
            ratio, own, other = beside(chosen.worlds, solver, theirs, chosen.spells, chosen.steps)
            print(f"| {name} | {solver} | {ratio:.2f} | {own:,.0f} | {other:,.0f} |", flush=True)
        env.close()
    print("\n| task beside EnvPool | ratio | ours [environment steps/s] | theirs |\n|---|---|---|---|")
    for name in BESIDE_ENVPOOL:
        pool = envpool_threads(chosen.worlds, name)
        if pool is None:
            print(f"| {name} | not installed | | |")
            continue
        file = pippin_task.gym.TASKS[f"Pippin/{name}-v0"]
        ratio, own, other = beside(chosen.worlds, "mujoco-native", pool[1], chosen.spells, chosen.steps, file)
        print(f"| {name} | {ratio:.2f} | {own:,.0f} | {other:,.0f} |", flush=True)
        pool[0].close()
    print("\n| task | MuJoCo's step with the search for islands ÷ without |\n|---|---|")
    for name in BESIDE_ENVPOOL:
        print(f"| {name} | {islands_searched(name):.3f} |", flush=True)


if __name__ == "__main__":
    from pippin.devices import leave_out_backward_kernels

    leave_out_backward_kernels()
    main()
