"""SAC and TD3 of skrl, which learn from a replay buffer of all worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from pippin import ConfigError
from skrl.agents.torch.sac import SAC, SAC_CFG
from skrl.agents.torch.td3 import TD3, TD3_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
from skrl.resources.noises.torch import GaussianNoise
from skrl.utils import set_seed

from .episodes import TrainingEnv, refuse_groups
from .networks import write_policy
from .skrl import LastSeen, numbers_of, scaling, statistics_of, stepper
from .torch_layers import layers_of, limit_threads, network, read_parts, set_rate


class _Bounded(Model):
    """A policy whose mean action is spread between the bounds of the task by a hyperbolic tangent."""

    def __init__(self, env: Any, config: Any) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device=env.device)
        self.net = network(self.num_observations, config.hidden, self.num_actions, config.activation)
        low, high = (
            torch.as_tensor(each, dtype=torch.float32) for each in (env.action_space.low, env.action_space.high)
        )
        self.register_buffer("spread", (high - low) / 2.0)
        self.register_buffer("centre", (high + low) / 2.0)

    def _mean(self, inputs: Any) -> Any:
        return torch.tanh(self.net(inputs["observations"])) * self.spread + self.centre


class _Gaussian(GaussianMixin, _Bounded):
    def __init__(self, env: Any, config: Any) -> None:
        _Bounded.__init__(self, env, config)
        GaussianMixin.__init__(self, clip_actions=True)
        self.log_std = torch.nn.Parameter(torch.log(self.spread.clone() / 2.0))

    def compute(self, inputs: Any, role: str = "") -> Any:
        return self._mean(inputs), {"log_std": self.log_std}


class _Deterministic(DeterministicMixin, _Bounded):
    def __init__(self, env: Any, config: Any) -> None:
        _Bounded.__init__(self, env, config)
        DeterministicMixin.__init__(self)

    def compute(self, inputs: Any, role: str = "") -> Any:
        return self._mean(inputs), {}


class _Critic(DeterministicMixin, Model):
    def __init__(self, env: Any, config: Any) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device=env.device)
        DeterministicMixin.__init__(self)
        self.net = network(self.num_observations + self.num_actions, config.hidden, 1, config.activation)

    def compute(self, inputs: Any, role: str = "") -> Any:
        return self.net(torch.cat([inputs["observations"], inputs["taken_actions"]], dim=-1)), {}


class _Noise(GaussianNoise):
    """Noise of actions, as a share of half the way between their bounds."""

    def __init__(self, *, spread: Any, **own: Any) -> None:
        super().__init__(**own)
        self._spread = spread

    def sample(self, size: Any) -> Any:
        return super().sample(size) * self._spread


class _LastSeenSAC(LastSeen, SAC):
    pass


class _LastSeenTD3(LastSeen, TD3):
    pass


class SkrlReplayLearner:
    """An agent of skrl with a replay buffer: each step of all worlds is followed by some gradient steps.

    A checkpoint has no replay buffer. After a resume, the policy fills it anew before the networks learn.
    """

    backend = "numpy"

    def __init__(self, config: Any, env: TrainingEnv, seed: int) -> None:
        space: Any = env.single_action_space
        if not np.isfinite([space.low, space.high]).all():
            raise ConfigError("trainer: SAC and TD3 take bounded actions only; give each of task.actions a `clip`")
        self._config, self._env, self._bounds = config, env, (space.low, space.high)
        refuse_groups(env, "skrl")
        limit_threads(config.threads)
        set_seed(seed)
        worlds = wrap_env(env, wrapper="gymnasium", verbose=False)
        settings: dict[str, Any] = {
            "gradient_steps": config.gradient_steps,
            "batch_size": config.batch_size,
            "discount_factor": config.gamma,
            "polyak": config.polyak,
            "learning_rate": config.learning_rate,
            "random_timesteps": config.learning_starts,
            "learning_starts": config.learning_starts,
            "experiment": {"write_interval": 0, "checkpoint_interval": 0},
            **(scaling(worlds) if config.normalise else {}),
        }
        critics = ("critic_1", "critic_2", "target_critic_1", "target_critic_2")
        models = {name: _Critic(worlds, config) for name in critics}
        parts = {
            "memory": RandomMemory(memory_size=config.memory_size, num_envs=worlds.num_envs, device=worlds.device),
            "observation_space": worlds.observation_space,
            "action_space": worlds.action_space,
            "device": worlds.device,
        }
        self._agent = self._make(worlds, settings, models, parts)
        self._trainer = stepper(worlds, self._agent, config)

    def _make(self, worlds: Any, settings: dict[str, Any], models: dict[str, Any], parts: dict[str, Any]) -> Any:
        """Return the agent, with settings and parts that all have."""
        raise NotImplementedError

    def learn(self) -> dict[str, float]:
        """Train for one iteration."""
        if self._config.anneal:
            for optimizer in (self._agent.policy_optimizer, self._agent.critic_optimizer):
                set_rate(optimizer, self._config.rate(self._env.progress))
        for _ in range(self._config.steps):
            self._trainer.train()
        return numbers_of(self._agent) | {"learning_rate": self._agent.policy_optimizer.param_groups[0]["lr"]}

    def save(self, path: Path) -> None:
        """Write networks, optimisers and statistics."""
        self._agent.save(str(path))

    def load(self, path: Path) -> None:
        """Continue from a file."""
        read_parts(path)  # the library would run the code that a file may hold
        self._agent.load(str(path))
        self._agent.cfg.random_timesteps = 0

    def write_policy(self, path: Path) -> None:
        """Write the action without noise."""
        pairs, seen = layers_of(self._agent.policy.net), statistics_of(self._agent)
        write_policy(path, pairs, self._config.activation, bounds=self._bounds, **seen)


class TrainerSkrlSAC(SkrlReplayLearner):
    """SAC of skrl."""

    def _make(self, worlds: Any, settings: dict[str, Any], models: dict[str, Any], parts: dict[str, Any]) -> Any:
        config = self._config
        settings["initial_entropy_value"] = config.initial_entropy_value
        models["policy"] = _Gaussian(worlds, config)
        agent = _LastSeenSAC(models=models, cfg=SAC_CFG(**{**settings, **config.options}), **parts)
        if agent.cfg.learn_entropy:  # the library saves its optimiser alone
            entropy = torch.nn.Module()
            entropy.register_buffer("log_entropy_coefficient", agent.log_entropy_coefficient)
            agent.checkpoint_modules["entropy"] = entropy
        return agent

    def load(self, path: Path) -> None:
        """Continue from a file."""
        super().load(path)
        if self._agent.cfg.learn_entropy:
            self._agent._entropy_coefficient = self._agent.log_entropy_coefficient.exp().detach()


class TrainerSkrlTD3(SkrlReplayLearner):
    """TD3 of skrl."""

    def _make(self, worlds: Any, settings: dict[str, Any], models: dict[str, Any], parts: dict[str, Any]) -> Any:
        config = self._config
        models |= {"policy": _Deterministic(worlds, config), "target_policy": _Deterministic(worlds, config)}
        own = {"mean": 0.0, "device": worlds.device, "spread": models["policy"].spread}
        for key in ("exploration_noise", "smooth_regularization_noise"):
            settings |= {key: _Noise, f"{key}_kwargs": {**own, "std": getattr(config, key)}}
        settings["smooth_regularization_clip"] = config.smooth_regularization_clip * own["spread"]
        settings["policy_delay"] = config.policy_delay
        return _LastSeenTD3(models=models, cfg=TD3_CFG(**{**settings, **config.options}), **parts)
