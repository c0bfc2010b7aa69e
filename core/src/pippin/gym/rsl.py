"""Environment of rsl-rl-lib over a vector environment."""

from __future__ import annotations

from typing import Any

import torch  # pyright: ignore[reportMissingImports]
import warp as wp
from rsl_rl.env import VecEnv  # pyright: ignore[reportMissingImports]
from tensordict import TensorDict  # pyright: ignore[reportMissingImports]

from .vector_env import VectorEnv

__all__ = ["RslEnv"]


class RslEnv(VecEnv):
    """The worlds of a vector environment, as rsl-rl-lib has them.

    Args:
        env: The environment; its backend is "torch", its autoreset "same-step". It is reset if it was not yet.
    """

    def __init__(self, env: VectorEnv) -> None:
        #: The vector environment.
        self.env = env
        self.num_envs, self.num_actions = env.num_envs, len(env.task.action_labels)
        self.device, self.cfg = env.device, env.task.config
        #: Steps after which an episode is truncated; without a limit, the largest number.
        self.max_episode_length = env.task.episode_steps or 2**31 - 1
        self._lengths = wp.to_torch(env.task.episodes.length)
        if not env.was_reset:
            env.reset()

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps of the present episodes, shape [worlds], in the memory of the task; an assignment is copied."""
        return self._lengths

    @episode_length_buf.setter
    def episode_length_buf(self, value: torch.Tensor) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._lengths.copy_(value)

    def get_observations(self) -> TensorDict:
        """Return the present observations; nothing is stepped."""
        return self._grouped(self.env.observe())

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Take a step; `extras` has the time-outs, and the mean sums of rewards of the episodes that ended."""
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        done = terminated | truncated
        extras: dict[str, Any] = {"time_outs": truncated}
        if bool(done.any()):
            terms = info["episode_terms"]
            extras["log"] = {f"/episode/{label}": sums[done].mean() for label, sums in terms.items()}
        return self._grouped(observations), rewards, done, extras

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def _grouped(self, observations: Any) -> TensorDict:
        names = list(self.env.task.observations)
        groups = observations if isinstance(observations, dict) else {names[0]: observations}
        return TensorDict(groups, batch_size=[self.num_envs], device=self.device)
