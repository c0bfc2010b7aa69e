"""Shards for learning on many machines: the policy travels to them, and batches of steps come back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from pippin import ConfigError, Simulation, SimulationConfig, SimulationError, load
from pippin.sharding import config_of_worlds
from pippin.validators import whole_number

from .rollout_batch import RolloutBatch

if TYPE_CHECKING:
    from .rollout import Rollout


class RolloutShard:
    """Some worlds of a file with a task, for a process of their own: on this machine, or as an actor of Ray.

    A world gives the bits that it gives in the whole. A shard that is made again in the same folder, after its process
    was lost, continues from its last checkpoint, bit for bit.

    Args:
        file: A configuration file with a `[task]` table. Its `scene.worlds` is the number of all worlds.
        first_world: Number of the first world of the shard.
        count: Number of worlds of the shard.
        folder: Folder for checkpoints, of this run alone; on several machines, on a file system that all of them have.
        overrides: Values that replace those of the file, by key path.

    Raises:
        ConfigError: The file is wrong or has no task, has no such worlds, or the folder belongs to another run.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        first_world: int,
        count: int,
        folder: str | os.PathLike[str],
        overrides: Mapping[str, Any] | None = None,
    ) -> None:
        #: The worlds, counted in the whole run.
        self.worlds: range = range(first_world, first_world + whole_number(count, "count"))
        self._config = _config(load(file, overrides), self.worlds, os.fspath(file))
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._rollout = self._make(max(self._checkpoints, default=None))

    @property
    def step_count(self) -> int:
        """Control steps so far."""
        return self._rollout.simulation.step_count

    def collect(
        self, policy: bytes, steps: int, start: int | None = None, *, group: str | None = None, deviation: Any = 0.0
    ) -> RolloutBatch:
        """Let a policy act for some control steps, and return what happened.

        There is a checkpoint of the state before the first step, and one of that after the last: if the call is
        repeated with its `start`, also by a shard that was made again, it returns the same batch, and so does the next.

        Args:
            policy: The content of an ONNX file: a plain multilayer perceptron, as for `[policy]`.
            steps: Number of control steps.
            start: Number of the first control step; by default the present one.
            group: The group of observations for the policy; it may be left out if there is only one.
            deviation: Standard deviation of the normal noise on each number of an action, one or [numbers]. The draws
                depend on seed, world and step alone.

        Raises:
            ConfigError: The policy does not fit the task, or an argument is wrong.
            SimulationError: There is no checkpoint of `start`, a reward is not finite, or the state diverged.
        """
        start = self.step_count if start is None else whole_number(start, "start")
        if start != self.step_count:
            self._return_to(start)
        self._keep(start)
        batch = self._rollout.collect(policy, whole_number(steps, "steps"), self.worlds.start, group, deviation)
        self._keep(start)
        return batch

    def close(self) -> None:
        """Close the simulation. The last checkpoint stays."""
        self._rollout.simulation.close()

    def _keep(self, start: int) -> None:
        """Write a checkpoint of the present step, if there is none, and leave only that of another one beside it."""
        path = self._path(self.step_count)
        if not path.exists():
            self._rollout.simulation.save(path)
        for step, old in self._checkpoints.items():
            if step not in (start, self.step_count):
                old.unlink()

    @property
    def _checkpoints(self) -> dict[int, Path]:
        return {int(path.stem.rpartition("-")[2]): path for path in self._folder.glob(self._path("*").name)}

    def _path(self, step: int | str) -> Path:
        return self._folder / f"worlds-{self.worlds.start}-{self.worlds.stop}-step-{step}.npz"

    def _make(self, step: int | None) -> Rollout:
        simulation = Simulation(self._config) if step is None else self._loaded(self._path(step))
        if step is None:
            simulation.reset()
        from .rollout import Rollout  # after the simulation, which chooses how Newton is imported

        return Rollout(simulation)

    def _loaded(self, checkpoint: Path) -> Simulation:
        simulation = Simulation.load(checkpoint)
        saved = simulation.config
        if self._config.simulation.substeps == "auto":  # the host has chosen them in the checkpoint
            saved = attrs.evolve(saved, simulation=attrs.evolve(saved.simulation, substeps="auto"))
        if saved != self._config:
            simulation.close()
            raise ConfigError(f"folder: '{checkpoint}' is of another configuration; use a folder for each run")
        return simulation

    def _return_to(self, step: int) -> None:
        if step not in self._checkpoints:
            raise SimulationError(
                f"collect: worlds {self.worlds.start}:{self.worlds.stop} are at step {self.step_count}, and there is no"
                f" checkpoint of step {step}: the steps between are lost; collect from {self.step_count}"
            )
        self._rollout.simulation.close()
        self._rollout = self._make(step)


def _config(config: SimulationConfig, worlds: range, file: str) -> SimulationConfig:
    if config.task is None:
        raise ConfigError(f"{file}: has no [task] table; a policy acts in a task")
    if config.task.autoreset != "same-step":
        raise ConfigError(
            f"{file}: task.autoreset is {config.task.autoreset!r}; batches of steps need 'same-step', the default"
        )
    if config.policy is not None:
        raise ConfigError(f"{file}: has a [policy] table; leave it out, as the policy comes with each call")
    return config_of_worlds(config, worlds)
