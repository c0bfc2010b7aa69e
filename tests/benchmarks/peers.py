"""Physics steps of Gymnasium's ant beside other simulators on this CPU, each if it is installed.

    uv run --group dev --with envpool,pybullet,jax,mujoco-mjx==3.17.0 python tests/benchmarks/peers.py

Every side steps as many ants, without actuation, from the same file, with the same step of 10 ms, on all cores, and
each keeps its own method: MuJoCo's, EnvPool's and MJX's is that of the file (fourth-order Runge-Kutta), PyBullet's its
own. EnvPool's figure contains observations and rewards, after every five steps; PyBullet runs in one process per core,
with its share of the ants in one world. Ours and a peer take turns; a ratio is the median of those of neighbouring
turns.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pippin
from mujoco.rollout import Rollout

DT, SETTLING = 0.01, 100
ANT = os.path.join(os.path.dirname(gymnasium.__file__), "envs", "mujoco", "assets", "ant.xml")
CORES = os.cpu_count() or 1

Repeat = Callable[[int], None]
"""Takes some physics steps in all worlds."""


@contextmanager
def ours(worlds: int, solver: str) -> Iterator[Repeat]:
    """Give the steps of Pippin."""
    options = {"integrator": "rk4"} if solver.startswith("mujoco") else {}
    tables = {
        "simulation": {"dt": DT, "decimation": 5, "device": "cpu", "accept_unsupported": ["armature"]},
        "scene": {"worlds": worlds, "assets": [{"path": ANT}]},
        "solver": {"type": solver, **options},
    }
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        yield lambda count: simulation.step(count // 5)


@contextmanager
def mujoco_c(worlds: int) -> Iterator[Repeat]:
    """Give the steps of MuJoCo's rollout on all cores, in one call, from settled ants."""
    model = mujoco.MjModel.from_xml_path(ANT)
    data, size = mujoco.MjData(model), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS.value)
    for _ in range(SETTLING):
        mujoco.mj_step(model, data)
    start = np.empty(size)
    mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS.value)
    pool, datas = Rollout(nthread=CORES), [mujoco.MjData(model) for _ in range(CORES)]
    yield lambda count: pool.rollout([model] * worlds, datas, np.tile(start, (worlds, 1)), nstep=count) and None


@contextmanager
def envpool(worlds: int) -> Iterator[Repeat]:
    """Give the steps of EnvPool's environments, which never end here."""
    import envpool

    env = envpool.make("Ant-v5", env_type="gymnasium", num_envs=worlds, seed=0, terminate_when_unhealthy=False)
    env.reset()
    rest = np.zeros((worlds, *env.action_space.shape))
    yield lambda count: [env.step(rest) for _ in range(count // 5)] and None
    env.close()


@contextmanager
def mjx(worlds: int) -> Iterator[Repeat]:
    """Give the steps of MJX, compiled by JAX for the CPU."""
    import jax
    from mujoco import mjx

    model = mujoco.MjModel.from_xml_path(ANT)
    own, data = mjx.put_model(model), mjx.put_data(model, mujoco.MjData(model))
    state = jax.tree.map(lambda each: jax.numpy.stack([each] * worlds), data)
    step = jax.vmap(partial(mjx.step, own))
    five = jax.jit(lambda state: jax.lax.scan(lambda each, _: (step(each), None), state, length=5)[0])
    states = [five(state)]

    def repeat(count: int) -> None:
        for _ in range(count // 5):
            states[0] = five(states[0])
        jax.block_until_ready(states[0].qpos)

    yield repeat


@contextmanager
def pybullet(worlds: int) -> Iterator[Repeat]:
    """Give the steps of PyBullet in one process per core."""
    context = multiprocessing.get_context("spawn")
    ends = [context.Pipe() for _ in range(CORES)]
    workers = [context.Process(target=bullet_worker, args=(worlds // CORES, end)) for _, end in ends]
    for worker in workers:
        worker.start()

    def repeat(count: int) -> None:
        for end, _ in ends:
            end.send(count)
        for end, _ in ends:
            end.recv()

    yield repeat
    for (end, _), worker in zip(ends, workers, strict=True):
        end.send(0)
        worker.join()


def bullet_worker(count: int, connection: Any) -> None:
    """Step some ants, far from each other on one ground, each time as often as the connection says."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # it prints warnings of the file into the table
    import pybullet as engine

    engine.connect(engine.DIRECT)
    engine.setTimeStep(DT)
    engine.setGravity(0.0, 0.0, -9.81)
    for index in range(count):
        bodies = engine.loadMJCF(ANT)
        ant = max(bodies, key=engine.getNumJoints)
        for body in bodies:
            if body != ant and index:
                engine.removeBody(body)
        engine.resetBasePositionAndOrientation(ant, (4.0 * index, 0.0, 0.75), (0.0, 0.0, 0.0, 1.0))
        for joint in range(engine.getNumJoints(ant)):
            engine.setJointMotorControl2(ant, joint, engine.VELOCITY_CONTROL, force=0.0)
    while steps := connection.recv():
        for _ in range(steps):
            engine.stepSimulation()
        connection.send(steps)


PEERS: dict[str, tuple[tuple[str, ...], Callable[[int], Any]]] = {
    "MuJoCo in C, `rollout`": (("mujoco",), mujoco_c),
    "EnvPool": (("envpool",), envpool),
    "PyBullet": (("pybullet",), pybullet),
    "MJX on the CPU": (("jax", "mujoco.mjx"), mjx),
}
"""The modules that each peer needs, and what gives its steps."""


def seconds(repeat: Repeat, count: int) -> float:
    """Return how long some physics steps take [s]."""
    start = time.perf_counter()
    repeat(count)
    return time.perf_counter() - start


def side_by_side(first: Repeat, second: Repeat, spell: float, turns: int) -> tuple[float, float, float]:
    """Return the speed of the first over the second, and both [steps/s]; each side runs about `spell` s in a turn."""
    counts = []
    for side in (first, second):
        side(SETTLING)
        pace = seconds(side, 20) / 20
        counts.append(max(5, round(spell / pace / 5) * 5))
    speeds = []
    for turn in range(turns):
        order = (0, 1) if turn % 2 else (1, 0)
        found = {side: counts[side] / seconds((first, second)[side], counts[side]) for side in order}
        speeds.append([found[0], found[1]])
    own, other = (statistics.median(column) for column in zip(*speeds, strict=True))
    return statistics.median(mine / theirs for mine, theirs in speeds), own, other


def main() -> None:
    """Print a table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--spell", type=float, default=0.5, help="time of one side in a turn [s]")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--solvers", nargs="+", default=["mujoco-native", "mujoco", "featherstone"])
    chosen = parser.parse_args()
    print(
        "| peer | Pippin's solver | Pippin ÷ peer | Pippin [world-steps/s] | peer [world-steps/s] |\n"
        + "|---" * 5
        + "|"
    )
    for name, (modules, make) in PEERS.items():
        if not all(map(find_spec, modules)):
            print(f"| {name} | not installed | | | |")
            continue
        with make(chosen.worlds) as theirs:
            for solver in chosen.solvers:
                with ours(chosen.worlds, solver) as own:
                    ratio, mine, other = side_by_side(own, theirs, chosen.spell, chosen.turns)
                told = [f"{chosen.worlds * speed:,.0f}" for speed in (mine, other)]
                print(f"| {name} | `{solver}` | {ratio:.2f} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    from pippin.devices import leave_out_backward_kernels

    leave_out_backward_kernels()
    main()
