"""Environment of Gymnasium with one world."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from pippin import SimulationConfig

from .arguments import RENDER_MODES
from .vector_env import VectorEnv, row_of

_TABLES = ("episode", "episode_terms", "episode_metrics", "final_info")


class Env(gymnasium.Env[Any, Any]):
    """One world of a simulation with a task, as Gymnasium's environment; for many worlds, `VectorEnv` is faster.

    Args:
        file, overrides, max_episode_steps, render_mode, plugins: As for `VectorEnv`; `scene.worlds` is taken as 1.

    Raises:
        ConfigError, PluginError: As for `VectorEnv`.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES)}  # noqa: RUF012 (as Gymnasium's own)
    """The modes of `render`, and its images per second, as Gymnasium asks."""

    def __init__(
        self,
        file: SimulationConfig | str | os.PathLike[str] | Mapping[str, Any],
        *,
        overrides: Mapping[str, Any] | None = None,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        plugins: Sequence[Any] | Mapping[str, Any] = (),
    ) -> None:
        #: The vector environment of the one world.
        self.worlds: VectorEnv = VectorEnv(
            file,
            num_envs=1,
            overrides=overrides,
            autoreset="disabled",
            max_episode_steps=max_episode_steps,
            render_mode=render_mode,
            plugins=plugins,
        )
        self.metadata = {**type(self).metadata, "render_fps": self.worlds.metadata["render_fps"]}
        self.render_mode = render_mode
        self.observation_space = self.worlds.single_observation_space
        self.action_space = self.worlds.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with a `seed` of the draws, which continue by default; `options` as of `VectorEnv.reset`."""
        super().reset(seed=seed)
        observations, _ = self.worlds.reset(seed=seed, options=options)
        return row_of(observations, 0), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one control step with an `action` of the shape of `action_space`; see `VectorEnv.step`. After the last
        step of an episode, `info` has `episode`, `episode_terms`, and of a task with metrics `episode_metrics` and
        `is_success`.
        """
        actions = action[None] if isinstance(action, np.ndarray) else [action]
        observations, rewards, terminated, truncated, infos = self.worlds.step(actions)
        keys = [key for key in _TABLES if key in infos] if infos["_episode"][0] else []
        info: dict[str, Any] = {key: {label: each[0].item() for label, each in infos[key].items()} for key in keys}
        info |= info.pop("final_info", {})
        return row_of(observations, 0), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> Any:
        """Return an image of the world, shape [height, width, 3]; None without a render mode."""
        frames = self.worlds.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Close the simulation; a second call does nothing."""
        self.worlds.close()
