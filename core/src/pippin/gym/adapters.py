"""Adapters of a vector environment for libraries with an interface of their own; skrl takes `VectorEnv` as it is."""

from __future__ import annotations

from typing import Any

from pippin.errors import ConfigError

from .vector_env import VectorEnv

__all__ = ["rsl_rl", "sb3"]


def sb3(env: VectorEnv) -> Any:
    """Return an environment as a `VecEnv` of Stable-Baselines3.

    Args:
        env: An environment with the backend "numpy" and the autoreset "same-step".

    Raises:
        ConfigError: The environment has another backend or autoreset, or Stable-Baselines3 is not installed.
    """
    _require(env, "sb3", "numpy")
    try:
        from .stable_baselines import StableBaselinesEnv
    except ModuleNotFoundError as error:
        raise ConfigError(f"sb3: {error.name} is not installed; install stable-baselines3") from error
    return StableBaselinesEnv(env)


def rsl_rl(env: VectorEnv) -> Any:
    """Return an environment as a `VecEnv` of rsl-rl-lib, with the groups of observations by name.

    Args:
        env: An environment with the backend "torch" and the autoreset "same-step".

    Raises:
        ConfigError: The environment has another backend or autoreset, or rsl-rl-lib is not installed.
    """
    _require(env, "rsl_rl", "torch")
    try:
        from .rsl import RslEnv
    except ModuleNotFoundError as error:
        raise ConfigError(f"rsl_rl: {error.name} is not installed; install rsl-rl-lib") from error
    return RslEnv(env)


def _require(env: VectorEnv, what: str, backend: str) -> None:
    if not isinstance(env, VectorEnv):
        raise ConfigError(f"{what}: expected a pippin.gym.VectorEnv without wrappers, got {type(env).__name__}")
    if env.backend != backend:
        raise ConfigError(f"{what}: expected an environment with backend={backend!r}, got {env.backend!r}")
    if env.autoreset != "same-step":
        raise ConfigError(f"{what}: expected an environment with autoreset='same-step', got {env.autoreset!r}")
