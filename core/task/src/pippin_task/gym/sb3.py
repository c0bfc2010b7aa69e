"""Environment of Stable-Baselines3 over a vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pippin import ConfigError

from .vector_env import VectorEnv, refuse_unfit, row_of

try:
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError:
    VecEnv = None


class Sb3VecEnvWrapper(VecEnv or object):  # pyrefly: ignore[invalid-inheritance]
    """The worlds of a vector environment as a `VecEnv` of Stable-Baselines3.

    Args:
        env: The environment; its backend is "numpy", its autoreset "same-step".

    Raises:
        ConfigError: The environment has another backend or autoreset, or Stable-Baselines3 is not installed.
    """

    def __init__(self, env: VectorEnv) -> None:
        refuse_unfit(type(self).__name__, env, "numpy", "stable-baselines3", is_installed=VecEnv is not None)
        #: The vector environment.
        self.env: VectorEnv = env
        self._actions: np.ndarray | None = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> Any:
        """Begin an episode in all worlds, with the seeds that `seed` gave.

        Raises:
            ConfigError: An option was set.
        """
        if any(self._options):
            raise ConfigError(f"reset: options: none are known, got {self._options}; leave them out")
        is_seeded = any(seed is not None for seed in self._seeds)
        observations, _ = self.env.reset(seed=self._seeds if is_seeded else None)
        self._reset_seeds()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Take a step; only worlds whose episodes ended have entries in their dictionaries. Shape [worlds] each."""
        observations, rewards, terminated, truncated, info = self.env.step(self._actions)
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for world in np.flatnonzero(done).tolist():
            infos[world] = {
                "terminal_observation": row_of(info["final_obs"], world),
                "TimeLimit.truncated": bool(truncated[world]),
                "episode": {"r": float(info["episode"]["r"][world]), "l": int(info["episode"]["l"][world])},
            }
            if "final_info" in info:
                infos[world]["is_success"] = bool(info["final_info"]["is_success"][world])
        return observations, rewards, done, infos

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return an image of each world, shape [height, width, 3]; None without a render mode."""
        return self.env.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the attribute `attr_name` of the environment, once for each chosen world."""
        return [getattr(self.env, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse `attr_name`: worlds have no attributes of their own.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(f"set_attr: the worlds of one simulation share {attr_name!r}; set it in the file")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call the method `method_name` once, with `method_args` and `method_kwargs`; each world has its result."""
        return [getattr(self.env, method_name)(*method_args, **method_kwargs)] * self._count(indices)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each `wrapper_class` and world; `info["episode"]` has the statistics of `Monitor`."""
        return [False] * self._count(indices)

    def _count(self, indices: Any) -> int:
        return len(list(self._get_indices(indices)))
