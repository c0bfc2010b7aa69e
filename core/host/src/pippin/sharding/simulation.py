"""A simulation whose worlds are in several processes of this machine, and the worker of each of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pippin.binding import closed
from pippin.closing import Closing
from pippin.config import SimulationConfig, load
from pippin.errors import ConfigError, SimulationError
from pippin.indices import IndexRange
from pippin.simulation import Simulation
from pippin.validators import whole_number
from pippin.workers.modules import function_named
from pippin.workers.process import CallResult

from .folder import read_folder, write_folder
from .shard import shard_count, shard_pool, shards_of

_CURE = "load what you saved, or use checkpoint_every"


class ShardedSimulation(Closing):
    """The worlds of a file in several processes of this machine, a shard each.

    A world gives the bits that it gives in a `Simulation` of all worlds. A script makes this below
    `if __name__ == "__main__":`, since each process imports the script again.

    Args:
        file: A configuration file, or its tables as a dictionary, or a `SimulationConfig`.
        shards: The number of processes; "auto" is the number of cores that this process may use if the memory is
            enough, or that of GPUs, and 1 for a solver that uses all cores itself.
        overrides: Values that replace those of the file, by key path.
        folder: The folder for the files of recorders: those of each shard are in `shard-0`, `shard-1` and so on.
        checkpoint_every: Control steps between two checkpoints in a temporary folder. If a process is lost, another one
            continues from the last of them and repeats the calls since, bit for bit; functions of `call` run again.
            Without it, the loss of a process is an error.

    Raises:
        ConfigError: The file is wrong, or its worlds cannot be split.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    def __init__(
        self,
        file: SimulationConfig | str | os.PathLike[str] | Mapping[str, Any],
        *,
        shards: int | Literal["auto"] = "auto",
        overrides: Mapping[str, Any] | None = None,
        folder: str | os.PathLike[str] | None = None,
        checkpoint_every: int | None = None,
    ) -> None:
        config = load(file, overrides)
        count = shard_count(config, shards)
        self._begin(config, [None] * count, folder, checkpoint_every)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        folder: str | os.PathLike[str] | None = None,
        checkpoint_every: int | None = None,
    ) -> Self:
        """Continue from the call of `save`, bit for bit, in as many shards.

        Args:
            path: A folder written by `save` with the same versions of Pippin, Newton and Warp.
            folder: As for the class.
            checkpoint_every: As for the class.

        Raises:
            ConfigError: The folder is not one of `save`, or belongs to other versions.
        """
        config, files = read_folder(Path(path))
        simulation = cls.__new__(cls)
        simulation._begin(config, files, folder, checkpoint_every)
        return simulation

    def _begin(
        self,
        config: SimulationConfig,
        files: Sequence[Path | None],
        folder: str | os.PathLike[str] | None,
        checkpoint_every: int | None,
    ) -> None:
        #: The configuration of all worlds.
        self.config = config
        #: The shards, with their worlds and configurations.
        self.shards = tuple(shards_of(config, len(files)))
        self._every = _checked_period(config, checkpoint_every)
        self._folders = [None if folder is None else Path(folder) / f"shard-{each.index}" for each in self.shards]
        self._files, self._log = list(files), list[tuple[str, Sequence[tuple[Any, ...]]]]()
        self._kept = None if checkpoint_every is None else Path(tempfile.mkdtemp(prefix="pippin-shards-"))
        #: Whether the simulation was closed.
        self.is_closed: bool = False
        try:
            heal = None if checkpoint_every is None else self._heal
            arguments = [self._arguments(shard.index) for shard in self.shards]
            self._pool = shard_pool(self.shards, ShardWorker, arguments, _CURE, heal)
            #: Control steps so far.
            self.step_count: int = self._pool.call("step_count")[0]
        except BaseException:
            self._remove_kept()
            raise

    @property
    def world_count(self) -> int:
        """The number of worlds in all shards."""
        return self.config.scene.worlds

    @property
    def control_dt(self) -> float:
        """Length of a control step [s]."""
        return self.config.simulation.control_dt

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.step_count * self.control_dt

    def step(self, count: int = 1) -> None:
        """Advance by `count` control steps. No shard waits for another one.

        Raises:
            SimulationError: As for `Simulation.step`; or a process was lost, and there is no `checkpoint_every`.
        """
        end = self.step_count + whole_number(count, "step", error=SimulationError)
        while self.step_count < end:
            until = min(end, self.step_count - self.step_count % self._every + self._every) if self._every else end
            self._call("advance", until)
            self._note("advance", [(until,)] * len(self.shards))
            self.step_count = until
            if self._every and until % self._every == 0:
                self._keep()

    def reset(self, worlds: Any = None) -> None:
        """Reset worlds to their initial state; see `Simulation.reset`.

        Args:
            worlds: Indices of worlds of the whole, or a boolean mask of shape [world_count]; None means all worlds.

        Raises:
            ConfigError: An index is out of range, or the mask has another shape.
        """
        each: list[tuple[Any, ...]] = [(None,)] * len(self.shards)
        if worlds is not None:
            mask = IndexRange(self.world_count).mask(worlds, "reset: worlds")
            each = [(mask[shard.worlds.start : shard.worlds.stop],) for shard in self.shards]
        self._call("reset", each=each)
        self._note("reset", each)

    def gather(self, name: str) -> np.ndarray:
        """Return the values of all worlds, shape [worlds, …], in world order.

        Args:
            name: Path of an array: `state.joint_q`, `control.joint_f`, `actuators.legs.applied_effort`,
                `sensors.torso.angular_velocity`, `task.episodes.reward`.

        Raises:
            ConfigError: There is no such array, or it does not have an equal part for each world.
        """
        return concatenate_worlds(name, self._call("gather", name))

    def call(self, function: str, *arguments: Any) -> list[Any]:
        """Call a function in each process with the simulation of its shard, and return the results in order of shards.

        Args:
            function: The function as `module:function`; it gets a `Simulation`, then the arguments.
            *arguments: Plain data; so is what the function returns.

        Raises:
            ConfigError: There is no such function.
        """
        found = self._call("call", function, arguments)
        self._note("call", [(function, arguments)] * len(self.shards))
        return found

    def check(self) -> None:
        """Raise if a world diverged or a buffer overflowed; see `Simulation.raise_errors`."""
        self._call("check")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all data that steps carry on into a folder, a file for each shard; see `load`.

        Raises:
            ConfigError: The path is a file.
            SimulationError: A component cannot be saved.
        """
        write_folder(Path(path), self.config, len(self.shards), self.step_count, self._save)

    def close(self) -> None:
        """Close the simulations of all shards, and end their processes, once."""
        if self.is_closed:
            return
        self.is_closed = True
        try:
            self._pool.close("close")
        finally:
            self._remove_kept()

    def __repr__(self) -> str:
        return f"ShardedSimulation({self.world_count} worlds in {len(self.shards)} shards, step {self.step_count})"

    def _call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        if self.is_closed:
            raise SimulationError(closed(method))
        self._last = method, [arguments] * len(self.shards) if each is None else each
        return self._pool.call(method, each=self._last[1])

    def _arguments(self, index: int) -> tuple[Any, ...]:
        return self.shards[index].config, self._folders[index], self._files[index]

    def _note(self, method: str, each: Sequence[tuple[Any, ...]]) -> None:
        if self._every:
            if method == "advance" and self._log and self._log[-1][0] == method:
                del self._log[-1]
            self._log.append((method, each))

    def _keep(self) -> None:
        assert self._kept is not None, "there is a period"
        files = [self._kept / f"shard-{shard.index}-{self.step_count}.npz" for shard in self.shards]
        self._save(files)
        before, self._files = self._files, files
        self._log.clear()
        for file in set(before) - set(files):
            if file is not None and file.parent == self._kept:
                file.unlink()

    def _save(self, files: Sequence[Path]) -> None:
        self._call("save", each=[(file,) for file in files])

    def _heal(self, index: int) -> CallResult:
        """Return the result of the last call from another worker, which continues from the last checkpoint."""
        result = self._pool.replace(index, *self._arguments(index))
        for method, each in [*self._log, self._last]:
            if result.error is not None:
                break
            result = self._pool.call_one(index, method, *each[index])
        return result

    def _remove_kept(self) -> None:
        if self._kept is not None:
            shutil.rmtree(self._kept, ignore_errors=True)


def concatenate_worlds(name: str, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the values of all worlds, shape [worlds, …], from those of each shard."""
    first = list(parts[0].shape[1:])
    for index, part in enumerate(parts):
        if list(part.shape[1:]) != first:
            raise ConfigError(
                f"gather: {name!r} has the shape {first} for a world of shard 0 and {list(part.shape[1:])} for one of"
                f" shard {index}, as their worlds differ; read the array of each shard by `call`"
            )
    return np.concatenate(parts)


def _checked_period(config: SimulationConfig, period: int | None) -> int:
    if period is None:
        return 0
    if whole_number(period, "checkpoint_every") < 1:
        raise ConfigError("checkpoint_every: expected a number of control steps from 1 on, got 0")
    if config.recorders:
        raise ConfigError(
            "checkpoint_every: a recorder would begin its file anew in a shard that continues from a checkpoint; leave"
            " checkpoint_every or the recorders out"
        )
    return period


class ShardWorker:
    """A simulation of the worlds of a shard, and the calls of its owner.

    Args:
        folder: The folder for the files of recorders; None if there is none.
        checkpoint: A file to continue from; None starts at the beginning.
    """

    def __init__(self, config: SimulationConfig, folder: Path | None, checkpoint: Path | None) -> None:
        if checkpoint is None:
            self.simulation = Simulation(config, folder=folder)
        else:
            self.simulation = Simulation.load(checkpoint, folder=folder)

    def advance(self, step: int) -> None:
        """Step until a control step, counted from the start; nothing happens if it is reached."""
        self.simulation.step(max(0, step - self.simulation.step_count))

    def reset(self, worlds: np.ndarray | None) -> None:
        """Reset the worlds of a mask, or all."""
        if worlds is None or worlds.any():
            self.simulation.reset(worlds)

    def gather(self, name: str) -> np.ndarray:
        """Return the values of all worlds; see `world_values`."""
        from .gathering import world_values

        return world_values(self.simulation, name)

    def call(self, function: str, arguments: tuple[Any, ...]) -> Any:
        """Call `module:function` with the simulation and the arguments."""
        return function_named(function)(self.simulation, *arguments)

    def step_count(self) -> int:
        """Return the control steps so far."""
        return self.simulation.step_count

    def check(self) -> None:
        """Raise if a world diverged or a buffer overflowed."""
        self.simulation.raise_errors()

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        self.simulation.save(path)

    def close(self) -> None:
        """Close the simulation: recorders end their files."""
        self.simulation.close()
