"""The worlds of an environment in several processes of this machine, which step together in shared memory."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from pippin.config import SimulationConfig
from pippin.errors import ConfigError, SimulationError
from pippin.sharding.block import Block, refuse_different
from pippin.sharding.folder import write_folder
from pippin.sharding.shard import shards_of
from pippin.sharding.team import Team
from pippin.simulation import Simulation

from .shard_part import ShardPart
from .words import LEAVE, STEP, hear, tell

if TYPE_CHECKING:
    import warp as wp
    from pippin.task.task import Task

__all__ = ["ShardedWorlds"]

_CURE = "close this environment, and make another one, or load what you saved"


class ShardedWorlds:
    """Worlds in several processes. Each step is one message to each process, and one back.

    Args:
        config: The configuration of all worlds.
        files: A checkpoint for each shard, or None to start it anew.
        source: The file of the environment, for errors.

    Raises:
        ConfigError: The worlds cannot be split; or as of `LocalWorlds`.
        PluginError: As of `LocalWorlds`.
    """

    device = "cpu"

    def __init__(self, config: SimulationConfig, files: Sequence[Path | None], source: str) -> None:
        if not hasattr(socket, "send_fds"):
            raise ConfigError("shards: this system cannot share memory between processes like this; leave it out")
        self._config, self.count = config, config.scene.worlds
        shards = shards_of(config, len(files))
        self._lines, theirs = zip(*(socket.socketpair() for _ in shards), strict=True)
        self._is_following = self._is_halfway = False
        try:
            arguments = [
                (shard.config, file, source, line) for shard, file, line in zip(shards, files, theirs, strict=True)
            ]
            self._team = Team(shards, ShardPart, arguments, _CURE)
            for line in theirs:
                line.close()
            self._share()
        except BaseException:
            self.close()
            raise

    def _share(self) -> None:
        """Make the shared memory for what the shards have."""
        facts, layouts, _ = zip(*self._team.call("facts"), strict=True)
        #: What does not change while the environment runs.
        self.facts = facts[0]
        refuse_different(layouts)
        layout = attrs.evolve(layouts[0], worlds=self.count)
        block = Block(layout)
        try:
            for line in self._lines:
                socket.send_fds(line, [STEP], [block.file])
            self._team.call("attach", each=[(layout, shard.worlds) for shard in self._team.shards])
        finally:
            block.close_file()
        self._block = block

    @property
    def simulation(self) -> Simulation:
        """Refused: no process has all worlds.

        Raises:
            SimulationError: Always.
        """
        raise _out_of_reach("simulation", len(self._lines))

    @property
    def task(self) -> Task:
        """Refused like `simulation`.

        Raises:
            SimulationError: Always.
        """
        raise _out_of_reach("task", len(self._lines))

    def arrays(self) -> dict[str, wp.array]:
        """Return the arrays of actions and results by name; see `LocalWorlds.arrays`."""
        import warp as wp

        return {name: wp.array(array, device="cpu", copy=False) for name, array in self._block.arrays.items()}

    def step(self, *, reads_flags: bool) -> None:
        """Take a control step in all shards; see `LocalWorlds.step`. Rewards are checked in any case."""
        if self._is_halfway:
            raise SimulationError(f"step: a step was interrupted, so that shards may be at different steps; {_CURE}")
        if not self._is_following:
            self._team.send("follow")
            self._is_following = True
        self._is_halfway = True
        for line in self._lines:
            tell(line, STEP)
        answers = [hear(line) for line in self._lines]
        self._is_halfway = False
        if any(answer != STEP for answer in answers):
            self._leave([line for line, answer in zip(self._lines, answers, strict=True) if answer == STEP])

    def reset(self, seeds: tuple[np.ndarray, np.ndarray] | None, mask: np.ndarray | None) -> None:
        """Begin episodes; see `LocalWorlds.reset`."""
        each = []
        for shard in self._team.shards:
            own = slice(shard.worlds.start, shard.worlds.stop)
            given = None if seeds is None else (seeds[0][own], seeds[1][own])
            each.append((given, None if mask is None else mask[own]))
        self._call("reset", each=each)

    def check(self) -> None:
        """Raise if a simulation failed."""
        self._call("check")

    def render(self) -> tuple[np.ndarray, ...]:
        """Return a picture of each world."""
        return tuple(picture for pictures in self._call("render") for picture in pictures)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a folder with a checkpoint for each shard."""
        step = self._call("step_count")[0]

        def save(files: Sequence[Path]) -> None:
            self._call("save", each=[(file,) for file in files])

        write_folder(Path(path), self._config, len(self._lines), step, save)

    def close(self) -> None:
        """Close the simulations, and end the processes."""
        try:
            if hasattr(self, "_team"):
                if self._is_following:
                    for line in self._lines:
                        tell(line, LEAVE)
                self._team.close("close")
        finally:
            for line in self._lines:
                line.close()

    def _call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        if self._is_halfway:
            raise SimulationError(f"{method}: a step was interrupted; {_CURE}")
        if self._is_following:
            self._leave(self._lines)
        return self._team.call(method, *arguments, each=each)

    def _leave(self, lines: Sequence[socket.socket]) -> None:
        """Let shards follow no longer, and raise what a step raised."""
        for line in lines:
            tell(line, LEAVE)
        self._is_following = False
        self._team.finish()


def _out_of_reach(what: str, count: int) -> SimulationError:
    return SimulationError(f"{what}: the worlds are in {count} other processes; make the environment without 'shards'")
