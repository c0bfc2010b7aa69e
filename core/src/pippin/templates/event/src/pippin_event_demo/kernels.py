"""The kernel: one thread for each world."""

import warp as wp
from pippin.task import random_state


@wp.kernel
def spin(
    world_mask: wp.array[bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    starts: wp.array2d[int],
    rate: float,
    joint_qd: wp.array[float],
):
    """Add a uniform rate about z to the free joint whose velocities begin at `starts[world, 1]`."""
    world = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        joint_qd[starts[world, 1] + 5] += wp.randf(state, -rate, rate)
