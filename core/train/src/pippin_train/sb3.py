"""PPO of Stable-Baselines3, and what its algorithms share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from pippin import ConfigError
from pippin_task.gym import Sb3VecEnvWrapper
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from .configs import PpoConfig
from .episodes import TrainingEnv, refuse_groups
from .networks import Pairs, write_policy
from .torch_layers import ACTIVATIONS, layers_of, limit_threads, read_parts

_CLIP = 10.0
"""Size at which `VecNormalize` clips observations."""

_NUMBERS = {"train/std": "std", "train/approx_kl": "kl", "train/learning_rate": "learning_rate"}
"""Numbers of an iteration that all trainers have, by the library's names."""

_STATISTICS = ("mean", "var", "count")
"""Names of the running statistics of observations."""


class Sb3Learner:
    """An algorithm of Stable-Baselines3, one iteration at a time."""

    backend = "numpy"

    def __init__(self, config: Any, env: TrainingEnv, seed: int) -> None:
        space: Any = env.single_action_space
        if not np.isfinite([space.low, space.high]).all():
            raise ConfigError(
                "trainer: Stable-Baselines3 takes bounded actions only; give each of task.actions a `clip`"
            )
        refuse_groups(env, "Stable-Baselines3")
        limit_threads(config.threads)
        self._config, self._steps, self._space = config, config.steps * env.num_envs, space
        wrapper = Sb3VecEnvWrapper(env)
        self._normal = VecNormalize(wrapper, norm_reward=False, clip_obs=_CLIP) if config.normalise else None
        settings = {
            "learning_rate": (lambda _: config.rate(env.progress)) if config.anneal else config.learning_rate,
            "gamma": config.gamma,
            "seed": seed,
            "device": "cpu",
        }
        network = {"net_arch": list(config.hidden), "activation_fn": ACTIVATIONS[config.activation]}
        self._model = self._make(self._normal or wrapper, settings, network)

    def _make(self, env: Any, settings: dict[str, Any], network: dict[str, Any]) -> Any:
        """Return the algorithm, with settings that all have, and those of its networks."""
        raise NotImplementedError

    def learn(self) -> dict[str, float]:
        """Train for one iteration."""
        self._model.learn(self._steps, reset_num_timesteps=False, log_interval=None)
        noted = self._model.logger.name_to_value.items()
        return {_NUMBERS.get(key, key): float(each) for key, each in noted if key.startswith("train/")}

    def save(self, path: Path) -> None:
        """Write networks, optimiser and statistics."""
        torch.save(self._parts(), path)

    def _parts(self) -> dict[str, Any]:
        parts = {"model": self._model.get_parameters(), "steps": self._model.num_timesteps}
        if self._normal is not None:
            parts["statistics"] = [torch.as_tensor(getattr(self._normal.obs_rms, name)) for name in _STATISTICS]
        return parts

    def load(self, path: Path) -> None:
        """Continue from a file."""
        self._take(read_parts(path))

    def _take(self, parts: dict[str, Any]) -> None:
        self._model.set_parameters(parts["model"])
        self._model.num_timesteps = parts["steps"]
        if self._normal is not None and "statistics" in parts:
            for name, values in zip(_STATISTICS, parts["statistics"], strict=True):
                setattr(self._normal.obs_rms, name, values.numpy())

    def _write(self, path: Path, pairs: Pairs, **own: Any) -> None:
        """Write a network behind the statistics of observations."""
        normal = self._normal
        seen: dict[str, Any] = {}
        if normal is not None:
            std = np.sqrt(normal.obs_rms.var + normal.epsilon)
            seen = {"mean": normal.obs_rms.mean, "std": std, "limit": _CLIP}
        write_policy(path, pairs, self._config.activation, **seen, **own)


def ppo_settings(config: PpoConfig, steps: int) -> dict[str, Any]:
    """Return the settings of PPO by the library's names, for `steps` steps of all worlds in an iteration."""
    return {
        "n_steps": config.steps,
        "batch_size": max(2, steps // config.batches),
        "n_epochs": config.epochs,
        "gae_lambda": config.lam,
        "clip_range": config.clip,
        "ent_coef": config.entropy,
    }


class TrainerSB3(Sb3Learner):
    """A PPO of Stable-Baselines3, one rollout and one update at a time."""

    def _make(self, env: Any, settings: dict[str, Any], network: dict[str, Any]) -> Any:
        config = self._config
        network["log_std_init"] = float(np.log(config.std))
        own = {**settings, **ppo_settings(config, self._steps), **config.options}
        return PPO("MlpPolicy", env, policy_kwargs=network, **own)

    def write_policy(self, path: Path) -> None:
        """Write the mean action."""
        policy = self._model.policy
        self._write(path, [*layers_of(policy.mlp_extractor.policy_net), *layers_of([policy.action_net])])
