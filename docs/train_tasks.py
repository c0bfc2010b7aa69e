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
WORLDS, STEPS = 64, 32  # of an iteration


@attrs.frozen
class Training:
    """The training of one task."""

    file: str
    iterations: int
    """Iterations, of 64 worlds × 32 steps each."""
    period: int
    """Iterations from one evaluation to the next."""
    test_worlds: int
    """Episodes of an evaluation."""
    weights: Mapping[str, float]
    """Weights of rewards in training; the returns that count are those of the file."""
    std: float
    """Standard deviation of the action at the start."""
    algorithm: Mapping[str, Any]
    is_normalized: bool = False
    """Whether the network reads observations less their mean, divided by their standard deviation."""
    overrides: Mapping[str, Any] = attrs.field(factory=dict)
    """Other keys that differ from the file, in training and in evaluation."""


TASKS = {
    "cartpole": Training(
        "inverted_pendulum.toml",
        iterations=60,
        period=10,
        test_worlds=64,
        weights={"alive": 0.05},
        std=1.0,
        algorithm={},
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
    noise = {"class_name": "GaussianDistribution", "init_std": training.std}
    algorithm = {"class_name": "PPO", "entropy_coef": 0.0, "use_clipped_value_loss": False, **training.algorithm}
    settings = {
        "num_steps_per_env": STEPS,
        "save_interval": sys.maxsize,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**network, "distribution_cfg": noise},
        "critic": network,
        "algorithm": algorithm,
    }
    return OnPolicyRunner(pippin.gym.rsl_rl(env), settings, log_dir=None, device="cpu")


def train(training: Training, seed: int) -> tuple[list[dict[str, float]], OnPolicyRunner]:
    """Return the curve and the runner at its end."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    file = EXAMPLES / "tasks" / training.file
    weights = {f"task.rewards.{label}.weight": weight for label, weight in training.weights.items()}
    overrides = {**training.overrides, "simulation.seed": seed, **weights}
    env = pippin.gym.VectorEnv(file, num_envs=WORLDS, backend="torch", overrides=overrides)
    test = pippin.gym.VectorEnv(file, num_envs=training.test_worlds, backend="torch", overrides={**training.overrides})
    runner, curve = runner_of(env, training), []
    wall = cpu = 0.0
    for iteration in range(training.period, training.iterations + 1, training.period):
        began = time.perf_counter(), time.process_time()
        runner.learn(training.period)
        wall, cpu = wall + time.perf_counter() - began[0], cpu + time.process_time() - began[1]
        returns = evaluate(runner, test)
        row = {"steps": iteration * WORLDS * STEPS, "wall": round(wall, 1), "cpu": round(cpu, 1)}
        curve.append({**row, "mean": round(float(returns.mean()), 1), "min": round(float(returns.min()), 1)})
        print(seed, curve[-1], flush=True)
    env.close()
    test.close()
    return curve, runner


def evaluate(runner: OnPolicyRunner, env: Any) -> np.ndarray:
    """Return the return of one episode in each world, without noise in the actions, shape [worlds]."""
    policy = runner.get_inference_policy("cpu")
    observations, _ = env.reset(seed=0)
    returns, is_running = torch.zeros(env.num_envs), torch.ones(env.num_envs, dtype=torch.bool)
    with torch.inference_mode():
        while is_running.any():
            observations, rewards, terminated, truncated, _ = env.step(policy({"policy": observations}))
            returns += torch.where(is_running, rewards, 0.0)
            is_running &= ~(terminated | truncated)
    return returns.numpy()


def write_policy(runner: OnPolicyRunner, file: Path) -> None:
    """Write the mean action as a chain of `Gemm` and `Tanh`; the first layer holds the normalisation."""
    policy = runner.alg.get_policy().cpu()
    layers = [each for each in policy.mlp if isinstance(each, torch.nn.Linear)]
    pairs = [(each.weight.detach().numpy(), each.bias.detach().numpy()) for each in layers]
    if policy.obs_normalization:
        scaled = pairs[0][0] / (policy.obs_normalizer.std.numpy() + policy.obs_normalizer.eps)
        pairs[0] = scaled, pairs[0][1] - scaled @ policy.obs_normalizer.mean.numpy()
    file.write_bytes(chain(pairs).SerializeToString(deterministic=True))


def chain(pairs: list[tuple[np.ndarray, np.ndarray]]) -> onnx.ModelProto:
    """Return a network of layers with tanh between them, from pairs of weights and biases."""
    nodes, arrays, name = [], [], "observations"
    for index, (weights, bias) in enumerate(pairs):
        arrays += [numpy_helper.from_array(weights, f"weights_{index}"), numpy_helper.from_array(bias, f"bias_{index}")]
        is_last = index == len(pairs) - 1
        target = "action" if is_last else f"sum_{index}"
        nodes.append(helper.make_node("Gemm", [name, f"weights_{index}", f"bias_{index}"], [target], transB=1))
        if not is_last:
            name = f"unit_{index}"
            nodes.append(helper.make_node("Tanh", [target], [name]))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["worlds", width])
        for name, width in (("observations", pairs[0][0].shape[1]), ("action", pairs[-1][0].shape[0]))
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def main(name: str, seeds: list[int]) -> None:
    """Train once for each seed; the file of the policy is that of the best end."""
    training, best = TASKS[name], -np.inf
    curves = json.loads(CURVES.read_text()) if CURVES.exists() else {}
    curves[name] = {}
    for seed in seeds:
        curve, runner = train(training, seed)
        curves[name][str(seed)] = curve
        if curve[-1]["mean"] > best:
            best = curve[-1]["mean"]
            write_policy(runner, EXAMPLES / "policies" / f"{name}.onnx")
        CURVES.write_text(json.dumps(curves, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], [int(each) for each in sys.argv[2:]] or [1])
