"""A rollout: control steps of a task with the actions of a policy, recorded on the device."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from pippin import ConfigError, Simulation
from pippin.devices import WARP_LOCK
from pippin.state import WorldSeeds

from pippin_task.kernels import explore
from pippin_task.policy import Network, chosen_group
from pippin_task.task import Task

from .rollout_batch import RolloutBatch


class Rollout:
    """The simulation of a shard, whose episodes have begun."""

    def __init__(self, simulation: Simulation) -> None:
        #: The simulation.
        self.simulation: Simulation = simulation
        self._task: Task = simulation.task
        self._network: tuple[str, Network] | None = None
        first, seed = simulation.config.scene.first_world, simulation.config.simulation.seed
        seeds = WorldSeeds(simulation.world_count, first, seed, simulation.device)
        self._draws = seeds.draws("rollout/action")

    def collect(self, policy: bytes, steps: int, first_world: int, group: str | None, deviation: Any) -> RolloutBatch:
        """Return a batch of steps; see `RolloutShard.collect`."""
        simulation, task, episodes = self.simulation, self._task, self._task.episodes
        start, groups = simulation.step_count, task.observations
        chosen = chosen_group(group, task, "group")
        network = self._network_of(policy, chosen)
        noise = self._noise(deviation)
        values = {name: each.values for name, each in groups.items()}
        finals = {name: each.final for name, each in groups.items()}
        kept = {name: self._rows(steps, each) for name, each in values.items()}
        results = {"rewards": episodes.reward, "terminated": episodes.terminated, "truncated": episodes.truncated}
        rows = {name: self._rows(steps, each) for name, each in {**results, "actions": episodes.action}.items()}
        ends: list[np.ndarray] = []
        final_rows: dict[str, list[np.ndarray]] = {name: [] for name in groups}
        for step in range(steps):
            with WARP_LOCK:
                for name, each in values.items():
                    wp.copy(kept[name][step], each)
                network(values[chosen], episodes.action)
                self._explore(noise)
                wp.copy(rows["actions"][step], episodes.action)
            simulation.step()
            with WARP_LOCK:
                for name, each in results.items():
                    wp.copy(rows[name][step], each)
            ended = np.flatnonzero(episodes.finished.numpy())
            if ended.size:
                ends.append(np.stack([np.full_like(ended, step), ended], axis=1))
                for name, each in finals.items():
                    final_rows[name].append(each.numpy()[ended])
        simulation.raise_errors()
        none = {name: np.zeros((0, each.shape[1]), dtype=np.float32) for name, each in finals.items()}
        return RolloutBatch(
            first_world=first_world,
            start=start,
            observations={name: each.numpy() for name, each in kept.items()},
            **{name: each.numpy() for name, each in rows.items()},
            ended=np.concatenate(ends) if ends else np.zeros((0, 2), dtype=np.int64),
            final_observations={name: np.concatenate([none[name], *each]) for name, each in final_rows.items()},
            last_observations={name: each.numpy().copy() for name, each in values.items()},
        )

    def _rows(self, steps: int, like: Any) -> Any:
        return wp.empty((steps, *like.shape), dtype=like.dtype, device=self.simulation.device)

    def _network_of(self, policy: bytes, group: str) -> Network:
        key = f"{group}/{hashlib.blake2b(policy).hexdigest()}"
        if self._network is None or self._network[0] != key:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "policy.onnx")
                file.write_bytes(policy)
                width = len(self._task.observations[group].labels)
                network = Network(file, self.simulation.world_count, width, self.simulation.device)
            if network.width != len(self._task.action_labels):
                raise ConfigError(
                    f"policy: gives {network.width} numbers, and the action has {len(self._task.action_labels)}; choose"
                    " the network of this task"
                )
            self._network = key, network
        return self._network[1]

    def _noise(self, deviation: Any) -> wp.array | None:
        width = len(self._task.action_labels)
        try:
            values = np.broadcast_to(np.asarray(deviation, dtype=np.float32), (width,))
        except ValueError as error:
            raise ConfigError(f"deviation: expected one number or {width}, got {deviation!r}") from error
        if not (np.isfinite(values) & (values >= 0.0)).all():
            raise ConfigError(f"deviation: expected finite numbers from 0 on, got {deviation!r}")
        return wp.array(values, dtype=float, device=self.simulation.device) if values.any() else None

    def _explore(self, noise: wp.array | None) -> None:
        if noise is None:
            return
        simulation, action = self.simulation, self._task.episodes.action
        key, seeds, first_world, _ = self._draws.arguments
        inputs = [action, noise, key, seeds, first_world, simulation.step_count]
        wp.launch(explore, action.shape, inputs, device=simulation.device)
