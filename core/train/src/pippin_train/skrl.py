"""PPO of skrl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
from skrl.resources.preprocessors.torch import RunningStandardScaler
from skrl.trainers.torch import StepTrainer
from skrl.utils import set_seed

from .configs import SkrlConfig, TrainerConfig
from .episodes import TrainingEnv, refuse_groups
from .networks import write_policy
from .torch_layers import layers_of, limit_threads, network, read_parts, set_rate

_CLIP = 5.0
"""Size at which `RunningStandardScaler` clips observations."""


class _Policy(GaussianMixin, Model):
    """Normally distributed actions around the output of a network."""

    def __init__(self, env: Any, config: SkrlConfig) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device=env.device)
        GaussianMixin.__init__(self, clip_actions=False, min_log_std=-14.0)
        self.net = network(self.num_observations, config.hidden, self.num_actions, config.activation)
        self.log_std = torch.nn.Parameter(torch.full((self.num_actions,), float(np.log(config.std))))

    def compute(self, inputs: Any, role: str = "") -> Any:
        return self.net(inputs["observations"]), {"log_std": self.log_std}


class _Value(DeterministicMixin, Model):
    def __init__(self, env: Any, config: SkrlConfig) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device=env.device)
        DeterministicMixin.__init__(self)
        self.net = network(self.num_observations, config.hidden, 1, config.activation)

    def compute(self, inputs: Any, role: str = "") -> Any:
        return self.net(inputs["observations"]), {}


def stepper(worlds: Any, agent: Any, config: TrainerConfig) -> StepTrainer:
    """Return what lets an agent act and learn, one step at a time."""
    steps = config.iterations * config.steps
    quiet = {"timesteps": steps, "headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    return StepTrainer(env=worlds, agents=agent, cfg=quiet)


def scaling(worlds: Any) -> dict[str, Any]:
    """Return the settings that let an agent scale its observations."""
    scaler = {"size": worlds.observation_space, "device": worlds.device, "clip_threshold": _CLIP}
    return {"observation_preprocessor": RunningStandardScaler, "observation_preprocessor_kwargs": scaler}


def statistics_of(agent: Any) -> dict[str, Any]:
    """Return the statistics of observations for `write_policy`; none if the agent does not scale."""
    scaler = agent.checkpoint_modules.get("observation_preprocessor")
    if scaler is None:
        return {}
    std = np.sqrt(scaler.running_variance.cpu().numpy()) + scaler.epsilon
    return {"mean": scaler.running_mean.cpu().numpy(), "std": std, "limit": _CLIP}


def numbers_of(agent: Any) -> dict[str, float]:
    """Return the means of what an agent has noted since the last call, without its times."""
    tracked = agent.tracking_data
    numbers = {key: float(np.mean(each)) for key, each in tracked.items() if not key.startswith("Stats /")}
    tracked.clear()  # else it grows
    return numbers


class LastSeen:
    """Part of an agent: an end of an episode is followed by its last state, not by the first one of the next episode.

    The library takes what a step returned, which is after the reset.
    """

    def record_transition(
        self, *, next_observations: Any, terminated: Any, truncated: Any, infos: Any, **rest: Any
    ) -> None:
        """Record a transition; the arguments are those of the library."""
        ended = terminated | truncated
        if ended.any():
            final = torch.as_tensor(infos["final_obs"], dtype=next_observations.dtype, device=next_observations.device)
            next_observations = torch.where(ended, final, next_observations)
        own = {"next_observations": next_observations, "terminated": terminated, "truncated": truncated, "infos": infos}
        super().record_transition(**own, **rest)  # pyrefly: ignore[missing-attribute]


class _LastSeenPPO(LastSeen, PPO):
    pass


class TrainerSkrl:
    """An agent of skrl, `steps` interactions at a time, after which it updates its networks."""

    backend = "numpy"

    def __init__(self, config: SkrlConfig, env: TrainingEnv, seed: int) -> None:
        self._config, self._env = config, env
        refuse_groups(env, "skrl")
        limit_threads(config.threads)
        set_seed(seed)
        worlds = wrap_env(env, wrapper="gymnasium", verbose=False)
        self._policy = _Policy(worlds, config)
        memory = RandomMemory(memory_size=config.steps, num_envs=worlds.num_envs, device=worlds.device)
        settings: dict[str, Any] = {
            "rollouts": config.steps,
            "learning_epochs": config.epochs,
            "mini_batches": config.batches,
            "learning_rate": config.learning_rate,
            "discount_factor": config.gamma,
            "gae_lambda": config.lam,
            "ratio_clip": config.clip,
            "entropy_loss_scale": config.entropy,
            "time_limit_bootstrap": True,
            "experiment": {"write_interval": 0, "checkpoint_interval": 0},
            **config.options,
        }
        if config.normalise:
            settings |= scaling(worlds)
        self._agent = _LastSeenPPO(
            models={"policy": self._policy, "value": _Value(worlds, config)},
            memory=memory,
            observation_space=worlds.observation_space,
            action_space=worlds.action_space,
            device=worlds.device,
            cfg=PPO_CFG(**settings),
        )
        self._trainer = stepper(worlds, self._agent, config)

    def learn(self) -> dict[str, float]:
        """Train for one iteration."""
        if self._config.anneal:
            set_rate(self._agent.optimizer, self._config.rate(self._env.progress))
        for _ in range(self._config.steps):
            self._trainer.train()
        numbers = numbers_of(self._agent)
        numbers["std"] = numbers.pop("Policy / Standard deviation")
        return numbers | {"kl": self._change(), "learning_rate": self._agent.optimizer.param_groups[0]["lr"]}

    def _change(self) -> float:
        """Return an estimate of how far the policy is from that before the iteration, where its last step was taken."""
        names = ("observations", "actions", "log_prob")
        seen, taken, before = (self._agent.memory.get_tensor_by_name(name)[-1] for name in names)
        with torch.no_grad():
            if self._config.normalise:
                seen = self._agent.checkpoint_modules["observation_preprocessor"](seen)
            mean, extra = self._policy.compute({"observations": seen})
            now = torch.distributions.Normal(mean, extra["log_std"].exp()).log_prob(taken).sum(-1, keepdim=True)
            ratio = now - before
            return (ratio.exp() - 1.0 - ratio).mean().item()

    def save(self, path: Path) -> None:
        """Write networks, optimiser and statistics."""
        self._agent.save(str(path))

    def load(self, path: Path) -> None:
        """Continue from a file."""
        read_parts(path)  # the library would run the code that a file may hold
        self._agent.load(str(path))

    def write_policy(self, path: Path) -> None:
        """Write the mean action."""
        write_policy(path, layers_of(self._policy.net), self._config.activation, **statistics_of(self._agent))
