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


def numbers_of(values: wp.array, *, is_arithmetic: bool = True) -> wp.array | None:
    """View an output as numbers, shape [worlds, numbers of a world]; None if it is not made of separate numbers.

    Integers and booleans are not. Nor are quaternions and transforms for a stage with arithmetic: adding to their
    components would make them invalid.
    """
    kind: Any = values.dtype
    is_rotation = wp.types.type_is_quaternion(kind) or wp.types.type_is_transformation(kind)
    is_number = getattr(kind, "_wp_scalar_type_", kind) is wp.float32 and not (is_rotation and is_arithmetic)
    if not is_number or not values.is_contiguous:
        return None
    bytes_of_world = wp.types.type_size_in_bytes(values.dtype) * values.size // values.shape[0]
    shape: Any = (values.shape[0], bytes_of_world // 4)
    view = wp.array(ptr=values.ptr, dtype=float, shape=shape, device=values.device)
    view._ref = values  # the memory lives as long as the view
    return view
