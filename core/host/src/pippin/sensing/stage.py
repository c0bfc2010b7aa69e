"""The base class of stages, and the numbers of an output that a stage changes: a row per world."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
import warp as wp
from pippin.state.draws import WorldSeeds


class Stage(abc.ABC):
    """A change of one output's values. A plugin adds `apply`, and `reset` if it has memory.

    The memory is in Warp arrays among the attributes, so that checkpoints and graphs find it.

    Args:
        config: The plugin's configuration.
        lanes: The numbers of the output, by world, and their random numbers.
    """

    is_arithmetic: bool = True
    """Whether the stage computes new values; rotations are refused then, because their components depend on each
    other."""

    def __init__(self, config: Any, lanes: OutputLanes) -> None:
        self.config = config
        self.lanes = lanes

    @abc.abstractmethod
    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Change the values of the masked worlds in place. May be recorded.

        Args:
            values: Shape [worlds, numbers of a world].
            world_mask: Shape [world_count + 1].
            dt: Time since the last reading [s]; zero if a reset caused this reading.
        """

    def reset(self, world_mask: wp.array[wp.bool]) -> None:  # noqa: B027 - most stages remember nothing
        """Clear the memory of the masked worlds, or draw it anew."""


class OutputLanes:
    """The numbers of one output by world, for one stage.

    Args:
        numbers: The output's numbers, shape [worlds, numbers of a world].
        worlds: Indices of these worlds, shape [worlds].
        seeds: The seeds of all worlds.
        name: A text that determines the random numbers: the sensor, the output and the stage.
        interval: Time from one reading to the next [s].
    """

    def __init__(self, numbers: wp.array, worlds: np.ndarray, seeds: WorldSeeds, name: str, interval: float) -> None:
        self.device = numbers.device
        self.shape: tuple[int, ...] = numbers.shape
        self.worlds = wp.array(worlds, dtype=int, device=self.device)
        self.everywhere = wp.full(len(seeds.values) + 1, value=True, dtype=bool, device=self.device)
        #: Time from one reading to the next [s].
        self.interval: float = interval
        self._seeds, self._counts = seeds.rows(name, worlds, self.shape[1])

    def zeros(self) -> wp.array:
        """Return zeros, one for each number of the output, shape [worlds, numbers of a world]."""
        return wp.zeros(self.shape, dtype=float, device=self.device)

    def launch(self, kernel: Any, world_mask: wp.array[wp.bool], *arguments: Any) -> None:
        """Launch a kernel over all numbers; worlds, mask, seeds and counts are its first arguments. May be recorded."""
        inputs = [self.worlds, world_mask, self._seeds, self._counts, *arguments]
        wp.launch(kernel, self.shape, inputs, device=self.device)
