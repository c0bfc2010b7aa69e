"""The numbers of one output for a stage: one row per world, with random numbers of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from pippin.state.draws import WorldSeeds


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
