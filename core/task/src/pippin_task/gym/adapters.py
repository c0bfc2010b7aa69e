"""Refusal of environments that an adapter for another library cannot take."""

from __future__ import annotations

from typing import Any

from pippin import ConfigError

from .vector_env import VectorEnv


def refuse_unfit(name: str, env: Any, backend: str, library: str, *, is_installed: bool) -> None:
    """Raise for wrappers, another backend or autoreset than an adapter takes, and for a library that is missing."""
    if not isinstance(env, VectorEnv):
        raise ConfigError(f"{name}: expected a pippin_task.gym.VectorEnv without wrappers, got {type(env).__name__}")
    if env.backend != backend:
        raise ConfigError(f"{name}: expected an environment with backend={backend!r}, got {env.backend!r}")
    if env.autoreset != "same-step":
        raise ConfigError(f"{name}: expected an environment with autoreset='same-step', got {env.autoreset!r}")
    if not is_installed:
        raise ConfigError(f"{name}: {library} is not installed; install it")
