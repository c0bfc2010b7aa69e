"""Kernels of rollouts."""

import warp as wp
from pippin.state.kernels import random_state


@wp.kernel
def explore(action: wp.array2d[float], deviation: wp.array[float], seed: int, key: int, first_world: int, step: int):
    """Add normal noise to each number of an action, drawn by seed, global world and control step."""
    world, i = wp.tid()
    generator = random_state(key, seed, first_world + world, step * action.shape[1] + i)
    action[world, i] = action[world, i] + deviation[i] * wp.randn(generator)
