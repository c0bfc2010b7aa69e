"""The kernel: one thread for each world."""

import warp as wp
from pippin.task import random_state


@wp.kernel
def draw_heights(
    world_mask: wp.array[bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    low: float,
    high: float,
    value: wp.array2d[float],
):
    """A uniform number in the masked worlds."""
    world = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        value[world, 0] = wp.randf(state, low, high)
