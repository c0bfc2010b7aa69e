"""Environment of rsl-rl-lib over a vector environment."""

from __future__ import annotations

from typing import Any

import warp as wp

from .vector_env import VectorEnv, refuse_unfit

try:
    import torch
    from rsl_rl.env import VecEnv
    from tensordict import TensorDict
except ModuleNotFoundError:
    VecEnv = TensorDict = None


class RslRlVecEnvWrapper(VecEnv or object):  # pyrefly: ignore[invalid-inheritance]
    """The worlds of a vector environment as a `VecEnv` of rsl-rl-lib, with the groups of observations by name.

    Args:
        env: The environment; its backend is "torch", its autoreset "same-step". It is reset if it was not yet.

    Raises:
        ConfigError: The environment has another backend or autoreset, or rsl-rl-lib is not installed.
    """

    def __init__(self, env: VectorEnv) -> None:
        refuse_unfit(type(self).__name__, env, "torch", "rsl-rl-lib", is_installed=VecEnv is not None)
        #: The vector environment.
        self.env: VectorEnv = env
        self.num_envs, self.num_actions = env.num_envs, len(env.facts.action_space.low)
        self.device, self.cfg = env.device, env.facts.task
        #: Steps after which an episode is truncated; without a limit, the largest number.
        self.max_episode_length: int = env.facts.episode_steps or 2**31 - 1
        #: Returns discounted values of observations, for what follows a time-out; by default the library takes its own.
        self.value: Any = None
        self._lengths = wp.to_torch(env.episode_lengths)
        if not env.was_reset:
            env.reset()

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps of the present episodes, shape [worlds], in the memory of the environment; an assignment is copied."""
        return self._lengths

    @episode_length_buf.setter
    def episode_length_buf(self, value: torch.Tensor) -> None:
        self.env.set_episode_lengths(value.cpu().numpy())

    def get_observations(self) -> Any:
        """Return the present observations; nothing is stepped."""
        return self._grouped(self.env.observe())

    def step(self, actions: torch.Tensor) -> tuple[Any, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Take a step with `actions`; `extras` has the time-outs, and the mean sums of rewards of ended episodes."""
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        done = terminated | truncated
        extras: dict[str, Any] = {"time_outs": truncated}
        if bool(done.any()):
            extras["log"] = {f"/episode/{key}": each[done].mean() for key, each in info["episode_terms"].items()}
            metrics = info.get("episode_metrics", {})
            extras["log"] |= {f"/metric/{label}": each[done].mean() for label, each in metrics.items()}
            if self.value is not None:
                rewards = rewards + self.value(self._grouped(info["final_obs"])) * extras.pop("time_outs")
        return self._grouped(observations), rewards, done, extras

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def _grouped(self, observations: Any) -> Any:
        groups = observations if isinstance(observations, dict) else {self.env.facts.groups[0]: observations}
        assert TensorDict is not None  # the constructor refuses
        return TensorDict(groups, batch_size=[self.num_envs], device=self.device)
