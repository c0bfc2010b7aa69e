"""The worlds of a simulation as a vector environment with the observations that LeRobot reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from pippin import ConfigError, Simulation
from pippin_task.gym import TASKS, VectorEnv

NEW_ROLLOUT = "lerobot_new_rollout"
"""Option of a reset by which LeRobot says that a rollout begins."""

_COLOUR = "color"


class LeRobotVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """The worlds of one simulation, as LeRobot plays policies in them.

    Observations are `agent_pos`, the numbers of a group of observations, float32 of shape [worlds, numbers];
    `environment_state`, those of another group, if one is chosen; and `pixels`, the colours of the cameras by their
    names, uint8 of shape [worlds, height, width, 3]. The metric `success` of the task gives
    `info["final_info"]["is_success"]`.

    Args:
        task: A configuration file with a `[task]` table, or the name of a task of Pippin, such as `Ant-v0`.
        num_envs: The number of worlds.
        state: The group of observations that is `agent_pos`.
        environment_state: The group that is `environment_state`, or None for none.
        cameras: Labels of the cameras, whose sensors have the output `color`; None for all that have.
        instruction: What the robot is to do, in words.
        max_episode_steps: Control steps after which an episode is truncated; by default as the file says.
        overrides: Values that replace those of the file, by key path.

    Raises:
        ConfigError: The task is wrong, or lacks a group, a camera or an end of episodes.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        *,
        state: str = "policy",
        environment_state: str | None = None,
        cameras: Sequence[str] | None = None,
        instruction: str = "",
        max_episode_steps: int | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> None:
        file = TASKS.get(f"Pippin/{task}", task)
        #: The vector environment that this one is made of.
        self.worlds: VectorEnv = VectorEnv(
            file,
            num_envs=num_envs,
            overrides=overrides,
            autoreset="same-step",
            max_episode_steps=max_episode_steps,
            render_mode="rgb_array",
        )
        try:
            self._groups = _groups(self.worlds, state, environment_state)
            self._images = images_of(self.worlds.simulation, num_envs, cameras)
            if not self.worlds.task.episode_steps:
                raise ConfigError(f"max_episode_steps: {task} has no end of episodes; give a number")
        except ConfigError:
            self.worlds.close()
            raise
        #: Control steps after which an episode is truncated, and what LeRobot calls the task, for each world.
        self.facts: Mapping[str, Any] = {
            "_max_episode_steps": self.worlds.task.episode_steps,
            "task": instruction,
            "task_description": instruction,
        }
        self.num_envs = num_envs
        self.metadata, self.render_mode = self.worlds.metadata, "rgb_array"
        self.single_action_space, self.action_space = self.worlds.single_action_space, self.worlds.action_space
        self.single_observation_space = _space(self.worlds, self._groups, self._images)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in all worlds.

        Args:
            seed: As for `pippin_task.gym.VectorEnv.reset`.
            options: Likewise; LeRobot's own option changes nothing.
        """
        rest = {key: value for key, value in (options or {}).items() if key != NEW_ROLLOUT}
        observed, info = self.worlds.reset(seed=seed, options=rest or None)
        return self._observed(observed), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one control step in all worlds; see `pippin_task.gym.VectorEnv.step`.

        Images of a world whose episode ended are those of its next one, and `final_obs` has the groups alone.

        Args:
            actions: Float32 of shape [worlds, numbers].
        """
        observed, *results, info = self.worlds.step(actions)
        return self._observed(observed), *results, info

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return an image of each world, shape [height, width, 3], from 0 to 255."""
        return self.worlds.render()

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Return what each world gives for a name, as a vector of single environments does.

        Args:
            name: `_max_episode_steps`, `task`, `task_description`, or a method such as `render`.
            *args: Arguments of a method.
            **kwargs: Its named arguments.
        """
        if name in self.facts:
            return (self.facts[name],) * self.num_envs
        return getattr(self, name)(*args, **kwargs)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return `_max_episode_steps`, `task` or `task_description` of each world.

        Args:
            name: One of these names.

        Raises:
            AttributeError: There is no such name.
        """
        if name not in self.facts:
            raise AttributeError(f"{name}: worlds have {', '.join(self.facts)} alone")
        return (self.facts[name],) * self.num_envs

    def close_extras(self, **kwargs: Any) -> None:
        """Close the simulation.

        Args:
            **kwargs: Gymnasium's own, without effect.
        """
        self.worlds.close()

    def _observed(self, observed: Any) -> dict[str, Any]:
        groups = observed if isinstance(observed, dict) else dict.fromkeys(self._groups.values(), observed)
        found: dict[str, Any] = {key: groups[name] for key, name in self._groups.items()}
        if self._images:
            found["pixels"] = {name: array.numpy()[:, index, :, :, :3].copy() for name, array, index in self._images}
        return found


def _groups(worlds: VectorEnv, state: str, environment_state: str | None) -> dict[str, str]:
    chosen = {"agent_pos": state, "environment_state": environment_state}
    known = worlds.task.observations
    for key, name in chosen.items():
        if name is not None and name not in known:
            argument = {"agent_pos": "state"}.get(key, key)
            raise ConfigError(f"{argument}: there is no group of observations {name!r}; groups: {', '.join(known)}")
    return {key: name for key, name in chosen.items() if name is not None}


def images_of(simulation: Simulation, world_count: int, cameras: Sequence[str] | None) -> list[tuple[str, Any, int]]:
    """Return name, array and index of each camera; a sensor of several cameras numbers them, as recorders do.

    Args:
        simulation: The simulation.
        world_count: Number of its worlds, each of which must have the cameras.
        cameras: Labels of sensors with the output `color`; None for all.

    Raises:
        ConfigError: There is no such camera, or not in each world.
    """
    sensors = simulation.sensors
    known = {label: sensor.outputs[_COLOUR] for label, sensor in sensors.items() if _COLOUR in sensor.outputs}
    found = []
    for label in known if cameras is None else cameras:
        if label not in known:
            raise ConfigError(
                f"cameras: no sensor {label!r} has the output 'color'; cameras: {', '.join(known) or 'none'}"
            )
        data = known[label].data
        if len(data) != world_count:
            raise ConfigError(f"cameras: {label!r} is in {len(data)} of {world_count} worlds; choose others")
        count = data.shape[1]
        found += [(label if count == 1 else f"{label}_{index}", data, index) for index in range(count)]
    return found


def _space(worlds: VectorEnv, groups: Mapping[str, str], images: Sequence[tuple[str, Any, int]]) -> gymnasium.Space:
    own = worlds.single_observation_space
    boxes = own.spaces if isinstance(own, gymnasium.spaces.Dict) else dict.fromkeys(groups.values(), own)
    spaces: dict[str, gymnasium.Space] = {key: boxes[name] for key, name in groups.items()}
    if images:
        spaces["pixels"] = gymnasium.spaces.Dict(
            {name: gymnasium.spaces.Box(0, 255, (*data.shape[2:4], 3), dtype=np.uint8) for name, data, _ in images}
        )
    return gymnasium.spaces.Dict(spaces)
