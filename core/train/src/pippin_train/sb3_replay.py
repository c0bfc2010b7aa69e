"""SAC and TD3 of Stable-Baselines3, which learn from a replay buffer of all worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.noise import NormalActionNoise

from .networks import Pairs
from .sb3 import Sb3Learner
from .torch_layers import layers_of


class ReplayLearner(Sb3Learner):
    """An algorithm with a replay buffer: each step of all worlds is followed by some gradient steps.

    A checkpoint has no replay buffer. After a resume, the policy fills it anew before the networks learn.
    """

    def _replay_settings(self) -> dict[str, Any]:
        names = ("buffer_size", "learning_starts", "batch_size", "tau", "train_freq", "gradient_steps")
        return {name: getattr(self._config, name) for name in names}

    def learn(self) -> dict[str, float]:
        """Train for one iteration."""
        model, wanted = self._model, self._config.options.get("gradient_steps", self._config.gradient_steps)
        stored = model.replay_buffer.size() * model.n_envs
        is_refilled = stored < model.learning_starts < model.num_timesteps and not model.replay_buffer.full
        model.gradient_steps = 0 if is_refilled else wanted
        return super().learn()

    def _write_bounded(self, path: Path, pairs: Pairs) -> None:
        self._write(path, pairs, bounds=(self._space.low, self._space.high))


class TrainerSAC(ReplayLearner):
    """SAC of Stable-Baselines3."""

    def _make(self, env: Any, settings: dict[str, Any], network: dict[str, Any]) -> Any:
        own = {**settings, **self._replay_settings(), "ent_coef": self._config.ent_coef, **self._config.options}
        return SAC("MlpPolicy", env, policy_kwargs=network, **own)

    def _parts(self) -> dict[str, Any]:
        own = {} if self._model.ent_coef_optimizer is None else {"log_ent_coef": self._model.log_ent_coef.detach()}
        return super()._parts() | own

    def _take(self, parts: dict[str, Any]) -> None:
        super()._take(parts)
        if self._model.ent_coef_optimizer is not None:
            self._model.log_ent_coef.data.copy_(parts["log_ent_coef"])

    def write_policy(self, path: Path) -> None:
        """Write the action without noise."""
        actor = self._model.actor
        self._write_bounded(path, [*layers_of(actor.latent_pi), *layers_of([actor.mu])])


class TrainerTD3(ReplayLearner):
    """TD3 of Stable-Baselines3."""

    def _make(self, env: Any, settings: dict[str, Any], network: dict[str, Any]) -> Any:
        config, count = self._config, self._space.shape[0]
        own: dict[str, Any] = {key: getattr(config, key) for key in ("policy_delay", "target_policy_noise")}
        own["target_noise_clip"] = config.target_noise_clip
        own["action_noise"] = NormalActionNoise(np.zeros(count), np.full(count, config.action_noise))
        own = {**settings, **self._replay_settings(), **own, **config.options}
        return TD3("MlpPolicy", env, policy_kwargs=network, **own)

    def write_policy(self, path: Path) -> None:
        """Write the action without noise."""
        self._write_bounded(path, layers_of(self._model.actor.mu))
