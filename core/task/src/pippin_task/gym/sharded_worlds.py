"""The worlds of an environment in several processes, which step together in shared memory; or in one, as asked."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
from pippin import ComponentConfig, ConfigError, Simulation, SimulationConfig, SimulationError, load
from pippin.config import structure_choice
from pippin.devices import find_device
from pippin.sharding import Shard, read_folder, shard_count, shard_pool, shards_of, write_folder
from pippin.workers import usable_cores

from .local_worlds import EnvShardWorker, LocalWorlds
from .sharing import SharedArrays, SignalState, StepSignals, refuse_different

if TYPE_CHECKING:
    import warp as wp

    from pippin_task.score import Score
    from pippin_task.task import Task

_CURE = "close this environment, and make another one, or load what you saved"


class ShardedWorlds:
    """Worlds in several processes. Each step is one signal to each process, and one back.

    Args:
        config: The configuration of all worlds.
        files: A checkpoint for each shard, or None to start at the beginning.
        source: The file of the environment, for errors.

    Raises:
        ConfigError: The worlds cannot be split; or as for `LocalWorlds`.
        PluginError: As for `LocalWorlds`.
    """

    device = "cpu"

    def __init__(self, config: SimulationConfig, files: Sequence[Path | None], source: str) -> None:
        if not hasattr(socket, "send_fds"):
            raise ConfigError("shards: this system cannot share memory between processes like this; leave it out")
        self._config, self.count = config, config.scene.worlds
        self._shards = with_solvers(shards_of(config, len(files)), config)
        self._signals = StepSignals(len(self._shards), _CURE)
        try:
            own = zip(self._shards, files, self._signals.worker_sockets, strict=True)
            arguments = [(shard.config, file, source, end) for shard, file, end in own]
            self._pool = shard_pool(self._shards, EnvShardWorker, arguments, _CURE)
            for end in self._signals.worker_sockets:
                end.close()
            facts, layouts, _ = zip(*self._pool.call("describe"), strict=True)
            #: What does not change while the environment runs.
            self.facts = facts[0]
            refuse_different(layouts)
            layout = attrs.evolve(layouts[0], worlds=self.count)
            shared = SharedArrays(layout)
            try:
                self._signals.send_descriptor(shared.file)
                self._pool.call("attach", each=[(layout, shard.worlds) for shard in self._shards])
            finally:
                os.close(shared.file)  # all have the memory
            self._shared = shared
        except BaseException:
            self.close()
            raise

    @property
    def simulation(self) -> Simulation:
        """Refused with a `SimulationError`: no process has all worlds."""
        raise _out_of_reach("simulation", len(self._shards))

    @property
    def task(self) -> Task:
        """Refused like `simulation`."""
        raise _out_of_reach("task", len(self._shards))

    def arrays(self) -> dict[str, wp.array]:
        """Return the arrays of actions and results by name; see `LocalWorlds.arrays`."""
        import warp as wp

        device = find_device(self.device)
        return {name: wp.array(array, device=device, copy=False) for name, array in self._shared.arrays.items()}

    def step(self, *, reads_flags: bool) -> None:
        """Take a control step in all shards; see `LocalWorlds.step`. Rewards are checked in any case."""
        self._signals.raise_if_interrupted("step")
        if self._signals.state is SignalState.IDLE:
            self._pool.start_call("follow")
        if not self._signals.step():
            self._pool.finish()  # raises the error of the step

    def reset(self, seeds: tuple[np.ndarray, np.ndarray] | None, mask: np.ndarray | None) -> None:
        """Begin episodes; see `LocalWorlds.reset`."""
        each = []
        for shard in self._shards:
            own = slice(shard.worlds.start, shard.worlds.stop)
            own_seeds = None if seeds is None else (seeds[0][own], seeds[1][own])
            each.append((own_seeds, None if mask is None else mask[own]))
        self._call("reset", each=each)

    def set_lengths(self, lengths: np.ndarray) -> None:
        """Set the steps of the present episodes, shape [worlds]."""
        self._call("set_lengths", each=[(lengths[shard.worlds.start : shard.worlds.stop],) for shard in self._shards])

    def raise_errors(self) -> None:
        """Raise if a simulation failed."""
        self._call("raise_errors")

    def statistics(self) -> tuple[Score, dict[str, float]]:
        """Return the score of all episodes so far, and means of the curricula; see `LocalWorlds.statistics`."""
        scores, means = zip(*self._call("statistics"), strict=True)
        counts = [len(shard.worlds) for shard in self._shards]
        return sum(scores[1:], scores[0]), {
            name: float(np.average([each[name] for each in means], weights=counts)) for name in means[0]
        }

    def render(self) -> tuple[np.ndarray, ...]:
        """Return an image of each world."""
        return tuple(image for images in self._call("render") for image in images)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a folder with a checkpoint for each shard."""
        step = self._call("step_count")[0]

        def save(files: Sequence[Path]) -> None:
            self._call("save", each=[(file,) for file in files])

        write_folder(Path(path), self._config, len(self._shards), step, save)

    def close(self) -> None:
        """Close the simulations, and end the processes."""
        try:
            if hasattr(self, "_pool"):
                self._signals.leave()
                self._pool.close("close")
        finally:
            self._signals.close()

    def _call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        self._signals.raise_if_interrupted(method)
        if self._signals.state is SignalState.FOLLOWING:
            self._signals.leave()
            self._pool.finish()
        return self._pool.call(method, *arguments, each=each)


def _out_of_reach(what: str, count: int) -> SimulationError:
    return SimulationError(f"{what}: the worlds are in {count} other processes; make the environment without 'shards'")


Worlds = LocalWorlds | ShardedWorlds

Plugins = Sequence[Any] | Mapping[str, Any]

Source = SimulationConfig | str | os.PathLike[str] | Mapping[str, Any]
"""A file, its tables, or its configuration."""


def with_solvers(shards: Sequence[Shard], config: SimulationConfig) -> list[Shard]:
    """Return shards with the solvers that the task names, as many neighbouring shards for each.

    Args:
        shards: The shards of an environment.
        config: The configuration of all worlds.

    Raises:
        ConfigError: A solver has fewer shards than another one, or its table is wrong.
        PluginError: A solver is not installed.
    """
    names = _solvers(config)
    if not names:
        return list(shards)
    if len(shards) % len(names) or config.scene.worlds % len(names):
        raise ConfigError(
            f"task.solvers: {config.scene.worlds} worlds in {len(shards)} shards cannot be divided among {len(names)}"
            f" solvers; let both numbers be multiples of {len(names)}"
        )
    each = len(shards) // len(names)
    return [
        attrs.evolve(shard, config=shard.config.with_tables(solver=_solver(names[index // each], shard)))
        for index, shard in enumerate(shards)
    ]


def _solvers(config: SimulationConfig) -> tuple[str, ...]:
    task = config.tables.get("task")
    return () if task is None else task.solvers


def _solver(name: str, shard: Shard) -> ComponentConfig:
    """Return the table of a solver of a shard: that of the file if it has the same name, or else its defaults."""
    plain, _, environment = name.partition("@")
    own, keys = shard.config.solver, {}
    chosen = own if own is not None and own.type == plain else structure_choice("solver", {"type": plain})
    if chosen is not own and hasattr(chosen.config, "threads"):
        keys["threads"] = max(1, usable_cores() // shard.count)
    if environment and not hasattr(chosen.config, "environment"):
        raise ConfigError(f"task.solvers: {plain!r} has no key 'environment', got {name!r}; leave out the folder")
    if environment:
        keys["environment"] = str(Path(environment).absolute())
    return attrs.evolve(chosen, config=attrs.evolve(chosen.config, **keys)) if keys else chosen


def open_worlds(
    file: Source,
    overrides: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    *,
    max_episode_steps: int | None,
    plugins: Plugins,
    shards: int | Literal["auto"] | None,
) -> Worlds:
    """Return the worlds of a file. Arguments and errors are those of `VectorEnv`; None keeps what the file has."""
    length = _episode_length(file, overrides, max_episode_steps)
    own = {key: value for key, value in {**arguments, "task.episode_length": length}.items() if value is not None}
    for key in own:
        if _is_set(overrides or {}, key):
            raise ConfigError(f"overrides: {key!r} is also given as an argument; give it once")
    merged = {**(overrides or {}), **own}
    config = load(file, merged)
    shards = len(_solvers(config)) or None if shards is None else shards
    if shards is None:
        return LocalWorlds(Simulation(config, plugins), name_of_source(file))
    _refuse_plugins(plugins)
    return ShardedWorlds(config, [None] * shard_count(config, shards), name_of_source(file))


def name_of_source(source: Source) -> str:
    """Return the path of a file, or the name of the class of what stands in its place."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else type(source).__name__


def load_worlds(path: str | os.PathLike[str], plugins: Plugins) -> Worlds:
    """Return worlds as they were saved, in a file or a folder with one for each shard; errors as `VectorEnv.load`."""
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
