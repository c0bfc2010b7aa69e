"""Episodes: the resets of each world, counted on the device, so that nothing waits for it."""

from __future__ import annotations

import warp as wp
from pippin.arrays import present
from pippin.binding import Host

from .kernels import count_resets

__all__ = ["EpisodeCounts"]


class EpisodeCounts:
    """The number of resets of each world so far.

    Args:
        simulation: The simulation.
    """

    def __init__(self, simulation: Host) -> None:
        #: The counts, shape [world_count].
        self.counts = wp.zeros(simulation.world_count, dtype=int, device=simulation.model.device)

    def add(self, world_mask: wp.array) -> None:
        """Count a reset of the masked worlds; the mask has shape [world_count + 1]."""
        counts = self.counts
        if present(counts.device).is_cpu:  # a kernel would have to be compiled
            counts.numpy()[:] += world_mask.numpy()[: len(counts)]
        else:
            wp.launch(count_resets, len(counts), [world_mask, counts], device=counts.device)
