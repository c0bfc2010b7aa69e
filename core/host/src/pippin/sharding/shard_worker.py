"""The worker of a shard: a simulation of its worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pippin.config import SimulationConfig
from pippin.simulation import Simulation
from pippin.workers.modules import function_named


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
