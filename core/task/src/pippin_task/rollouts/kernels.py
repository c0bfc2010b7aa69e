"""Kernels of rollouts."""

import warp as wp
from pippin.state import random_state


@wp.kernel
def explore(
    action: wp.array2d[float],
    deviation: wp.array[float],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    step: int,
):
    """Add normal noise to each number of an action, drawn by seed, global world and control step."""
    world, i = wp.tid()
    generator = random_state(key, seeds[world], first_world + world, step * action.shape[1] + i)
    action[world, i] = action[world, i] + deviation[i] * wp.randn(generator)
