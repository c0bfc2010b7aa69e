"""PPO of Stable-Baselines3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from pippin import ConfigError
from pippin_task.gym import Sb3VecEnvWrapper
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from .configs import Sb3Config
from .episodes import TrainingEnv
from .networks import write_policy
from .torch_layers import ACTIVATIONS, layers_of, limit_threads, read_parts

_CLIP = 10.0
"""Size at which `VecNormalize` clips observations."""

_NUMBERS = {"train/std": "std", "train/approx_kl": "kl", "train/learning_rate": "learning_rate"}
"""Numbers of an iteration that all trainers have, by the library's names."""

_STATISTICS = ("mean", "var", "count")
"""Names of the running statistics of observations."""


class TrainerSB3:
    """A PPO of Stable-Baselines3, one rollout and one update at a time."""

    backend = "numpy"

    def __init__(self, config: Sb3Config, env: TrainingEnv, seed: int) -> None:
        space: Any = env.single_action_space
        if not np.isfinite([space.low, space.high]).all():
            raise ConfigError(
                "trainer: Stable-Baselines3 takes bounded actions only; give each of task.actions a `clip`"
            )
        limit_threads(config.threads)
        self._config, self._steps = config, config.steps * env.num_envs
        wrapper = Sb3VecEnvWrapper(env)
        self._normal = VecNormalize(wrapper, norm_reward=False, clip_obs=_CLIP) if config.normalise else None
        network = {
            "net_arch": list(config.hidden),
            "activation_fn": ACTIVATIONS[config.activation],
            "log_std_init": float(np.log(config.std)),
        }
        settings = {
            "n_steps": config.steps,
            "batch_size": max(2, self._steps // config.batches),
            "n_epochs": config.epochs,
            "learning_rate": (lambda _: config.rate(env.progress)) if config.anneal else config.learning_rate,
            "gamma": config.gamma,
            "gae_lambda": config.lam,
            "clip_range": config.clip,
            "ent_coef": config.entropy,
            **config.options,
        }
        self._model = PPO(
            "MlpPolicy", self._normal or wrapper, policy_kwargs=network, seed=seed, device="cpu", **settings
        )

    def learn(self) -> dict[str, float]:
        """Train for one iteration."""
        self._model.learn(self._steps, reset_num_timesteps=False)
        noted = self._model.logger.name_to_value.items()
        return {_NUMBERS.get(key, key): float(each) for key, each in noted if key.startswith("train/")}

    def save(self, path: Path) -> None:
        """Write networks, optimiser and statistics."""
        parts = {"model": self._model.get_parameters(), "steps": self._model.num_timesteps}
        if self._normal is not None:
            parts["statistics"] = [torch.as_tensor(getattr(self._normal.obs_rms, name)) for name in _STATISTICS]
        torch.save(parts, path)

    def load(self, path: Path) -> None:
        """Continue from a file."""
        parts = read_parts(path)
        self._model.set_parameters(parts["model"])
        self._model.num_timesteps = parts["steps"]
        if self._normal is not None and "statistics" in parts:
            for name, values in zip(_STATISTICS, parts["statistics"], strict=True):
                setattr(self._normal.obs_rms, name, values.numpy())

    def write_policy(self, path: Path) -> None:
        """Write the mean action."""
        policy, normal = self._model.policy, self._normal
        pairs = [*layers_of(policy.mlp_extractor.policy_net), *layers_of([policy.action_net])]
        mean = std = limit = None
        if normal is not None:
            mean, std = normal.obs_rms.mean, np.sqrt(normal.obs_rms.var + normal.epsilon)
            limit = _CLIP
        write_policy(path, pairs, self._config.activation, mean=mean, std=std, limit=limit)
