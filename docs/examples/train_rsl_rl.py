"""Train a policy with rsl-rl-lib: `uv run --group rl python docs/examples/train_rsl_rl.py [ITERATIONS]`."""

import sys
from pathlib import Path

import pippin.gym
import torch
from rsl_rl.runners import OnPolicyRunner

TASK = Path(__file__).parent / "tasks" / "inverted_pendulum.toml"
NETWORK = {"class_name": "MLPModel", "hidden_dims": [64, 64], "activation": "tanh"}
SETTINGS = {
    "num_steps_per_env": 32,
    "save_interval": 1000,
    "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "actor": {**NETWORK, "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}},
    "critic": NETWORK,
    "algorithm": {"class_name": "PPO", "entropy_coef": 0.0, "use_clipped_value_loss": False},
}


def train(iterations: int, seed: int = 1) -> OnPolicyRunner:
    """Return a runner with a policy that was trained; an iteration is 64 worlds × 32 steps."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the networks are small
    overrides = {"simulation.seed": seed, "task.rewards.alive.weight": 0.05}
    env = pippin.gym.VectorEnv(TASK, num_envs=64, backend="torch", overrides=overrides)
    runner = OnPolicyRunner(pippin.gym.RslRlVecEnvWrapper(env), SETTINGS, log_dir=None, device="cpu")
    runner.learn(iterations)
    return runner


if __name__ == "__main__":
    train(int((sys.argv[1:] or ["60"])[0])).export_policy_to_onnx(".", "policy.onnx")
