"""The configuration of `--env.type=pippin`, which LeRobot reads from its command line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gymnasium
from lerobot.configs import FeatureType, PolicyFeature
from lerobot.envs.configs import EnvConfig
from lerobot.utils.constants import ACTION, OBS_ENV_STATE, OBS_IMAGES, OBS_STATE
from pippin import ConfigError

from .env import LeRobotVectorEnv
from .overrides import parse_overrides


@EnvConfig.register_subclass("pippin")
@dataclass
class PippinEnvConfig(EnvConfig):
    """A task of Pippin. All worlds are those of one simulation, so that `use_async_envs` makes no difference."""

    task: str | None = None
    """A configuration file with a `[task]` table, or the name of a task of Pippin, such as `Ant-v0`."""

    fps: int = 0
    """Control steps in a second [Hz]; 0 for those of the file."""

    state: str = "policy"
    """The group of observations that is `observation.state`."""

    environment_state: str | None = None
    """The group that is `observation.environment_state`; by default there is none."""

    cameras: list[str] | None = None
    """Labels of cameras with the output `color`; by default all of the file."""

    instruction: str = ""
    """What the robot is to do, in words."""

    episode_length: int | None = None
    """Control steps after which an episode is truncated; by default as the file says."""

    overrides: dict[str, str] = field(default_factory=dict)
    """Values that replace those of the file, by key path, as TOML: `{"solver.type": '"mujoco-native"'}`."""

    def __post_init__(self) -> None:
        """Read the features and the rate from a simulation of one world."""
        if self.task is None:
            return
        env = self._made(1)
        self.features = {**_features(env), **self.features}
        self.features_map = {**{key: _key_of(key) for key in self.features}, **self.features_map}
        dt = env.worlds.simulation.control_dt
        env.close()
        if not self.fps:
            self.fps = round(1.0 / dt)
            if not self.fps or abs(self.fps * dt - 1.0) > 1e-6:
                raise ConfigError(
                    f"fps: a control step of {dt:g} s makes {1.0 / dt:.6g} in a second, and LeRobot counts whole ones;"
                    " give the number"
                )

    @property
    def gym_kwargs(self) -> dict[str, Any]:
        """Arguments of the environment."""
        return {
            "state": self.state,
            "environment_state": self.environment_state,
            "cameras": self.cameras,
            "instruction": self.instruction,
            "max_episode_steps": self.episode_length,
            "overrides": parse_overrides(self.overrides),
        }

    def create_envs(self, n_envs: int, use_async_envs: bool = False) -> dict[str, dict[int, Any]]:
        """Return `{"pippin": {0: environment}}`, with as many worlds as environments are asked for.

        Raises:
            ConfigError: There is no task, or it does not fit.
        """
        return {self.type: {0: self._made(n_envs)}}

    def _made(self, count: int) -> LeRobotVectorEnv:
        if self.task is None:
            raise ConfigError("task: missing; give a configuration file, or the name of a task such as Ant-v0")
        return LeRobotVectorEnv(self.task, count, **self.gym_kwargs)


def _features(env: LeRobotVectorEnv) -> dict[str, PolicyFeature]:
    found = {ACTION: PolicyFeature(type=FeatureType.ACTION, shape=env.single_action_space.shape)}
    observed: Any = env.single_observation_space
    for key, space in observed.spaces.items():
        if isinstance(space, gymnasium.spaces.Dict):
            for name, image in space.spaces.items():
                found[f"{key}/{name}"] = PolicyFeature(type=FeatureType.VISUAL, shape=image.shape)
        else:
            kind = FeatureType.STATE if key == "agent_pos" else FeatureType.ENV
            found[key] = PolicyFeature(type=kind, shape=space.shape)
    return found


def _key_of(key: str) -> str:
    if key.startswith("pixels/"):
        return f"{OBS_IMAGES}.{key.removeprefix('pixels/')}"
    return {ACTION: ACTION, "agent_pos": OBS_STATE, "environment_state": OBS_ENV_STATE}[key]
