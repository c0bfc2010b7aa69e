"""Plays of policies: whole episodes without noise, each counted once."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from pippin import ConfigError, Simulation, SimulationConfig, load
from pippin.devices import WARP_LOCK

from pippin_task.gym.arguments import read_seeds
from pippin_task.gym.local_worlds import LocalWorlds
from pippin_task.policy import Network, chosen_group

_LOOK = 32
"""Control steps from one look at whether all episodes have ended to the next."""


class Player:
    """Plays policies in a task, one episode in each world, as `pippin play --episodes` does.

    Args:
        config: A configuration with a task whose episodes have an end; viewers, recorders and a policy are left out.
        worlds: The number of worlds, in a simulation of its own.
        observations: The group that the policies read; the only one has any name.

    Raises:
        ConfigError: The task has no end of episodes, or cannot be built with so many worlds.
    """

    def __init__(self, config: SimulationConfig, worlds: int, observations: str | None = None) -> None:
        if config.task is None or config.task.episode_length is None:
            raise ConfigError("task.episode_length: is missing; set how long an episode is, so that it can be played")
        own = {"scene.worlds": worlds, "task.autoreset": "disabled", "task.solvers": []}
        self._config = load(config.unobserved().with_tables(policy=None), own)
        self._observations, self._has_played = observations, False
        self._worlds = LocalWorlds(Simulation(self._config), "Player")

    def play(self, policy: str | os.PathLike[str], *, seed: int = 0) -> dict[str, Any]:
        """Return the score of a policy, as `Task.score` does: of one episode in each world.

        Args:
            policy: The ONNX file.
            seed: Seed of the random draws, besides `simulation.seed`: policies with the same one begin alike.

        Raises:
            ConfigError: The policy is that of another task.
        """
        if self._has_played and self._config.task.curricula:  # they begin with a simulation, as in `pippin play`
            self._worlds.close()
            self._worlds = LocalWorlds(Simulation(self._config), "Player")
        self._has_played = True
        worlds, task, simulation = self._worlds, self._worlds.task, self._worlds.simulation
        groups, wanted = task.observations, self._observations
        group: Any = groups[chosen_group(None if len(groups) == 1 else wanted, task, "observations")]
        network = Network(Path(policy), worlds.count, len(group.labels), simulation.device, task.episodes.length)
        act: Callable[[], object] = partial(network, group.values, task.episodes.action)
        if network.is_capturable:  # it has many short kernels
            with WARP_LOCK, wp.ScopedCapture(simulation.device) as capture:
                act()
            assert capture.graph is not None, "the capture succeeded"
            act = partial(wp.capture_launch, capture.graph)
        drawn = np.random.SeedSequence([self._config.simulation.seed, seed]).generate_state(1)[0]
        worlds.reset(read_seeds(int(drawn), worlds.count), None)
        before = task.sums
        for step in range(1, task.episode_steps + 1):
            with WARP_LOCK:
                act()
            simulation.step()
            if step % _LOOK == 0 and task.episodes.waiting.numpy().all():
                break
        return task.sums.since(before).plain()

    def close(self) -> None:
        """Close the simulation."""
        self._worlds.close()
