"""Worlds on two Ray actors beside one process: `uv run --group dev --group ray python tests/benchmarks/ray_shards.py`.

The ant with its actuators and sensors; a policy acts in 24 control steps a call, and the block comes back. One process
with all worlds and two actors with half each take turns; medians of the seconds of a call are printed, with their
ratio, the size of a block, and the load of the machine. Two idle cores are needed for a ratio that means something.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
import onnx
import ray
from onnx import TensorProto, helper, numpy_helper
from pippin_task import RolloutBatch, RolloutShard

ROOT = Path(__file__).parents[2]
TASK = """
extends = ["{ant}"]

[simulation]
device = "cpu"

[task.actions]
legs = {{ type = "joint-targets", actuator = "legs", scale = 0.5 }}

[task.observations.policy]
height = {{ of = "root-height" }}
orientation = {{ of = "root-orientation" }}
velocity = {{ of = "root-linear-velocity" }}
turning = {{ of = "root-angular-velocity" }}
positions = {{ of = "joint-positions" }}
velocities = {{ of = "joint-velocities" }}
feet = {{ of = {{ type = "sensor", sensor = "feet", output = "net_force" }} }}
action = {{ of = "last-action" }}

[task.rewards]
alive = {{ type = "alive", weight = 1.0 }}
"""
LEFT_OUT = {"simulation.accept_unsupported": ["armature", "joint_damping"]}
SOLVERS = {"mujoco": {}, "xpbd": {"solver": {"type": "xpbd", "extends": False}, "simulation.substeps": 4, **LEFT_OUT}}


def policy(inputs: int, outputs: int) -> bytes:
    """Return a network of two layers of 64 units with random weights."""
    random, widths = np.random.default_rng(0), (inputs, 64, 64, outputs)
    nodes, weights, name = [], [], "observations"
    for layer, shape in enumerate(itertools.pairwise(widths)):
        values = (0.1 * random.standard_normal(shape)).astype(np.float32)
        weights.append(numpy_helper.from_array(values, f"w{layer}"))
        nodes += [
            helper.make_node("MatMul", [name, f"w{layer}"], [f"m{layer}"]),
            helper.make_node("Tanh", [f"m{layer}"], [f"t{layer}"]),
        ]
        name = f"t{layer}"
    ends = [
        helper.make_tensor_value_info(each, TensorProto.FLOAT, ["worlds", width])
        for each, width in (("observations", inputs), (name, outputs))
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def megabytes(blocks: list[RolloutBatch]) -> float:
    """Return the size of the arrays of some blocks [MB]."""
    found = 0
    for block in blocks:
        for value in attrs.asdict(block, recurse=False).values():
            arrays = value.values() if isinstance(value, dict) else [value]
            found += sum(each.nbytes for each in arrays if isinstance(each, np.ndarray))
    return found / 1e6


def seconds(call: Callable[[], object]) -> float:
    """Return the time of a call [s]."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def compare(solver: str, worlds: int, steps: int, turns: int, folder: Path) -> None:
    """Print a row for a solver."""
    file = folder / "task.toml"
    file.write_text(TASK.format(ant=ROOT / "docs/examples/ant.toml"))
    overrides = {"scene.worlds": worlds, **SOLVERS[solver]}
    one = RolloutShard(file, 0, worlds, folder / f"{solver}-one", overrides)
    actor = ray.remote(num_cpus=1)(RolloutShard)
    half = worlds // 2
    two = [actor.remote(file, first, half, folder / f"{solver}-two", overrides) for first in (0, half)]
    task = one._rollout._task
    network = policy(len(task.observations["policy"].labels), len(task.action_labels))
    sent = ray.put(network)

    def both() -> list[RolloutBatch]:
        return ray.get([shard.collect.remote(sent, steps) for shard in two])

    sides = (lambda: one.collect(network, steps), both)
    size = megabytes(both())
    one.collect(network, steps)
    pairs = []
    for turn in range(turns):
        times = [0.0, 0.0]
        for side in (0, 1) if turn % 2 else (1, 0):
            times[side] = seconds(sides[side])
        pairs.append(times)
    alone, split = (statistics.median(each) for each in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    load = os.getloadavg()[0]
    print(f"| {solver} | {worlds} | {alone:.2f} | {split:.2f} | {ratio:.2f} | {size:.2f} | {load:.1f} |", flush=True)
    one.close()
    for shard in two:
        ray.kill(shard)


def main() -> None:
    """Print a row for each solver."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=512)
    parser.add_argument("--steps", type=int, default=24, help="Control steps of a call, by default 24.")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--solvers", nargs="*", default=list(SOLVERS))
    given = parser.parse_args()
    onnx.checker.check_model(onnx.load_from_string(policy(3, 2)))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    print("| solver | worlds | one process [s] | two actors [s] | ratio | blocks [MB] | load |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for solver in given.solvers:
            compare(solver, given.worlds, given.steps, given.turns, Path(folder))
    ray.shutdown()


if __name__ == "__main__":
    main()
