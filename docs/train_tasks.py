"""Train the policies of `docs/examples/policies`: `uv run --group rl python docs/train_tasks.py TASK [SEED ...]`.

PPO of rsl-rl-lib. Training stops now and then for episodes without noise in the actions, whose returns in the rewards
of the task's file are the curve; their time does not count. `docs/draw_training.py` draws the curves.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import onnx
import pippin.gym
import torch
from onnx import TensorProto, helper, numpy_helper
from rsl_rl.runners import OnPolicyRunner

DOCS = Path(__file__).parent
EXAMPLES = DOCS / "examples"
CURVES = DOCS / "images" / "training.json"


@attrs.frozen
class Training:
    """The training of one task."""

    file: str
    worlds: int
    steps: int
    """Control steps of each world in an iteration."""
    iterations: int
    period: int
    """Iterations from one evaluation to the next."""
    test_worlds: int
    """Episodes of an evaluation."""
    weights: Mapping[str, float]
    """Weights of rewards in training; the returns that count are those of the file."""
    std: tuple[float, float]
    """Standard deviation of the action: at the start, and the least."""
    algorithm: Mapping[str, Any]
    is_normalized: bool = False
    """Whether the network reads observations less their mean, divided by their standard deviation."""
    action: str = ""
    scale: float = 1.0
    """The name of the action, and the part of its range that the network uses."""
    overrides: Mapping[str, Any] = attrs.field(factory=dict)
    """Other keys that differ from the file, in training and in evaluation."""


TASKS = {
    "cartpole": Training(
        "inverted_pendulum.toml",
        worlds=64,
        steps=32,
        iterations=60,
        period=10,
        test_worlds=64,
        weights={"alive": 0.05},
        std=(1.0, 1e-6),
        algorithm={},
    ),
    "ant": Training(
        "ant.toml",
        worlds=128,
        steps=24,
        iterations=500,
        period=50,
        test_worlds=8,
        weights={"healthy": 0.02, "forward": 0.2, "control": -0.001},
        std=(0.8, 0.4),
        algorithm={"schedule": "fixed", "gamma": 0.98},
        is_normalized=True,
        action="legs",
        scale=0.5,
        overrides={"solver.type": "mujoco-native", "solver.integrator": "euler"},
    ),
}


def runner_of(env: Any, training: Training) -> OnPolicyRunner:
    """Return a runner with two networks of 2 × 64 tanh units."""
    network = {
        "class_name": "MLPModel",
        "hidden_dims": [64, 64],
        "activation": "tanh",
        "obs_normalization": training.is_normalized,
    }
    start, least = training.std
    noise = {"class_name": "GaussianDistribution", "init_std": start, "std_range": [least, 1e6]}
    algorithm = {"class_name": "PPO", "entropy_coef": 0.0, "use_clipped_value_loss": False, **training.algorithm}
    settings = {
        "num_steps_per_env": training.steps,
        "save_interval": sys.maxsize,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**network, "distribution_cfg": noise},
        "critic": network,
        "algorithm": algorithm,
    }
    return OnPolicyRunner(pippin.gym.RslRlVecEnvWrapper(env), settings, log_dir=None, device="cpu")


def train(name: str, seed: int) -> list[dict[str, float]]:
    """Train, write the policy at each evaluation that is the best so far, and return the curve."""
    training = TASKS[name]
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the networks are small
    env, test = environments(training, seed)
    runner, curve = runner_of(env, training), list[dict[str, float]]()
    wall = cpu = 0.0
    for iteration in range(training.period, training.iterations + 1, training.period):
        began = time.perf_counter(), time.process_time()
        runner.learn(training.period)
        wall, cpu = wall + time.perf_counter() - began[0], cpu + time.process_time() - began[1]
        returns = evaluate(runner, test, training.scale)
        row = {"steps": iteration * training.worlds * training.steps, "wall": round(wall, 1), "cpu": round(cpu, 1)}
        curve.append({**row, "mean": round(float(returns.mean()), 1), "min": round(float(returns.min()), 1)})
        if curve[-1]["mean"] >= max(row["mean"] for row in curve):
            write_policy(runner, EXAMPLES / "policies" / f"{name}.onnx", training.scale)
        write_curve(name, seed, curve)
        print(seed, curve[-1], flush=True)
    env.close()
    test.close()
    return curve


def environments(training: Training, seed: int) -> tuple[Any, Any]:
    """Return the environment that trains, and that which evaluates with the rewards and the actions of the file."""
    file = EXAMPLES / "tasks" / training.file
    own: dict[str, Any] = {f"task.rewards.{label}.weight": weight for label, weight in training.weights.items()}
    own["simulation.seed"] = seed
    if training.action:
        own[f"task.actions.{training.action}.scale"] = training.scale
    env, test = (
        pippin.gym.VectorEnv(file, num_envs=count, backend="torch", overrides={**training.overrides, **keys})
        for count, keys in ((training.worlds, own), (training.test_worlds, {}))
    )
    return env, test


def evaluate(runner: OnPolicyRunner, env: Any, scale: float) -> np.ndarray:
    """Return the return of one episode in each world, without noise in the actions, shape [worlds]."""
    policy = runner.get_inference_policy("cpu")
    observations, _ = env.reset(seed=0)
    returns, is_running = torch.zeros(env.num_envs), torch.ones(env.num_envs, dtype=torch.bool)
    with torch.inference_mode():
        while is_running.any():
            action = policy({"policy": observations})
            action = action if scale == 1.0 else scale * action.clamp(-1.0, 1.0)
            observations, rewards, terminated, truncated, _ = env.step(action)
            returns += torch.where(is_running, rewards, 0.0)
            is_running &= ~(terminated | truncated)
    return returns.numpy()


def write_policy(runner: OnPolicyRunner, file: Path, scale: float) -> None:
    """Write the mean action as a chain; its first layer holds the normalisation, its last one the scale."""
    policy = runner.alg.get_policy().cpu()
    layers = [each for each in policy.mlp if isinstance(each, torch.nn.Linear)]
    pairs = [(each.weight.detach().numpy(), each.bias.detach().numpy()) for each in layers]
    if policy.obs_normalization:
        scaled = pairs[0][0] / (policy.obs_normalizer.std.numpy() + policy.obs_normalizer.eps)
        pairs[0] = scaled, pairs[0][1] - scaled @ policy.obs_normalizer.mean.numpy()
    pairs[-1] = scale * pairs[-1][0], scale * pairs[-1][1]
    file.write_bytes(chain(pairs, scale).SerializeToString(deterministic=True))


def chain(pairs: list[tuple[np.ndarray, np.ndarray]], limit: float) -> onnx.ModelProto:
    """Return layers with tanh between them, from pairs of weights and biases; a limit below 1 clips the action."""
    nodes, arrays, name = [], [], "observations"
    for index, pair in enumerate(pairs):
        labels = [f"weights_{index}", f"bias_{index}"]
        arrays += [numpy_helper.from_array(array, label) for array, label in zip(pair, labels, strict=True)]
        nodes.append(helper.make_node("Gemm", [name, *labels], [f"sum_{index}"], transB=1))
        nodes.append(helper.make_node("Tanh", [f"sum_{index}"], [name := f"unit_{index}"]))
    nodes.pop()
    limits = {} if limit == 1.0 else {"low": -limit, "high": limit}
    arrays += [numpy_helper.from_array(np.float32(value), label) for label, value in limits.items()]
    nodes.append(helper.make_node("Clip" if limits else "Identity", [nodes[-1].output[0], *limits], ["action"]))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["worlds", width])
        for name, width in (("observations", pairs[0][0].shape[1]), ("action", pairs[-1][0].shape[0]))
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def write_curve(name: str, seed: int, curve: list[dict[str, float]]) -> None:
    """Write the curve into the file of all curves."""
    curves = json.loads(CURVES.read_text()) if CURVES.exists() else {}
    curves.setdefault(name, {})[str(seed)] = curve
    CURVES.write_text(json.dumps(curves, indent=1) + "\n")


def main() -> None:
    """Train the task that the command names, once for each seed; the policy is that of the last seed."""
    for seed in sys.argv[2:] or ["1"]:
        train(sys.argv[1], int(seed))


if __name__ == "__main__":
    main()
