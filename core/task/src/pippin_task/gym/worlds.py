"""Making of the worlds of an environment: in this process, or in several ones."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pippin import ConfigError, Simulation, SimulationConfig, load
from pippin.sharding import read_folder, shard_count

from .local_worlds import LocalWorlds
from .sharded_worlds import ShardedWorlds

Worlds = LocalWorlds | ShardedWorlds

Plugins = Sequence[Any] | Mapping[str, Any]

Source = SimulationConfig | str | os.PathLike[str] | Mapping[str, Any]
"""A file, its tables, or its configuration."""


def open_worlds(
    file: Source,
    overrides: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    *,
    max_episode_steps: int | None,
    plugins: Plugins,
    shards: int | Literal["auto"] | None,
) -> Worlds:
    """Return the worlds of a file; the arguments are those of `VectorEnv`, and None among them keeps that of the file.

    Raises:
        ConfigError: The file is wrong or has no task, or an argument is wrong.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """
    length = _episode_length(file, overrides, max_episode_steps)
    own = {key: value for key, value in {**arguments, "task.episode_length": length}.items() if value is not None}
    for key in own:
        if _is_set(overrides or {}, key):
            raise ConfigError(f"overrides: {key!r} is also given as an argument; give it once")
    merged = {**(overrides or {}), **own}
    config = load(file, merged)
    if shards is None:
        return LocalWorlds(Simulation(config, plugins), name_of_source(file))
    _refuse_plugins(plugins)
    return ShardedWorlds(config, [None] * shard_count(config, shards), name_of_source(file))


def name_of_source(source: Source) -> str:
    """Return the path of a file, or the name of the class of what stands in its place."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else type(source).__name__


def load_worlds(path: str | os.PathLike[str], plugins: Plugins) -> Worlds:
    """Return worlds as they were saved: in a file, or in a folder with a file for each shard.

    Raises:
        ConfigError: The file is missing, or is not a checkpoint.
    """
    if not Path(path).is_dir():
        return LocalWorlds(Simulation.load(path, plugins), os.fspath(path))
    _refuse_plugins(plugins)
    return ShardedWorlds(*read_folder(Path(path)), os.fspath(path))


def _is_set(overrides: Mapping[str, Any], key: str) -> bool:
    return any(
        path == key
        or (isinstance(value, Mapping) and key.startswith(f"{path}.") and _is_set(value, key.removeprefix(f"{path}.")))
        for path, value in overrides.items()
    )


def _refuse_plugins(plugins: Plugins) -> None:
    if plugins:
        raise ConfigError(
            "plugins: objects made in Python stay in this process; write them into the file, or leave 'shards' out"
        )


def _episode_length(file: Source, overrides: Mapping[str, Any] | None, steps: int | None) -> float | None:
    if steps is None:
        return None
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ConfigError(f"max_episode_steps: expected a whole number from 1 on, got {steps!r}")
    times = load(file, overrides).simulation
    return steps * times.dt * times.decimation
