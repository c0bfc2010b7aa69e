"""Checks of arguments: the backend, the mode of images, seeds, and the worlds to reset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from numbers import Integral
from typing import Any

import numpy as np
from pippin import ConfigError

RENDER_MODES = ("rgb_array",)
"""The modes of `render`."""

_BACKENDS = ("numpy", "torch", "warp")


def check_render_mode(mode: Any) -> None:
    """Raise a `ConfigError` if a mode of `render` is unknown."""
    if mode is not None and mode not in RENDER_MODES:
        raise ConfigError(f"render_mode: unknown, {mode!r}; choose {', '.join(map(repr, RENDER_MODES))}, or None")


def check_backend(name: str) -> None:
    """Raise a `ConfigError` if a backend is unknown, or its library is not installed."""
    if name not in _BACKENDS:
        raise ConfigError(f"backend: unknown, {name!r}; choose {', '.join(_BACKENDS)}")
    if name == "torch" and find_spec("torch") is None:
        raise ConfigError("backend: PyTorch is not installed; install torch, or choose 'numpy'")


def read_seeds(seed: Any, count: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the seed of each world, and the worlds that get one, shape [count] each; None without a seed.

    One number is for all worlds, whose draws differ all the same; else there is one or None for each world.
    """
    if seed is None:
        return None
    seeds = list(seed) if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str) else [seed] * count
    if len(seeds) != count:
        raise ConfigError(f"reset: seed: expected one number, or one for each of {count} worlds, got {len(seeds)}")
    is_given = np.array([each is not None for each in seeds])
    return np.array([0 if each is None else _seed(each) for each in seeds], dtype=object), is_given


def _seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ConfigError(f"reset: seed: expected a whole number from 0 on, got {seed!r}")
    return int(seed)


def read_mask(options: Any, count: int) -> np.ndarray | None:
    """Return a copy of `options["reset_mask"]`, shape [count]; None without it. The options are left as they are."""
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise ConfigError(f"reset: options: expected a mapping, got {type(options).__name__}")
    for key in options:
        if key != "reset_mask":
            raise ConfigError(f"reset: options: unknown key {key!r}; the one option is 'reset_mask'")
    mask = options.get("reset_mask")
    if mask is None:
        return None
    where = "reset: options: reset_mask"
    if not isinstance(mask, np.ndarray):
        raise ConfigError(f"{where}: expected a NumPy array, got {type(mask).__name__}; write np.array([...])")
    if mask.dtype != np.bool_:
        raise ConfigError(f"{where}: expected booleans, got {mask.dtype}; write mask.astype(bool)")
    if mask.shape != (count,):
        raise ConfigError(f"{where}: expected shape ({count},), got {mask.shape}; give one boolean for each world")
    if not mask.any():
        raise ConfigError(f"{where}: no world is True; leave the option out to reset all worlds")
    return mask.copy()
