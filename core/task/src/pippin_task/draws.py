"""Draws in some worlds: what kernels need for the random numbers of a term in the worlds that draw now."""

from typing import Any

import warp as wp
from pippin.state import Draws, random_state


@wp.struct
class MaskedDraws:
    """The worlds that draw now, and the key of their random numbers."""

    world_mask: wp.array[wp.bool]
    key: int
    seeds: wp.array[int]
    first_world: int
    counts: wp.array[int]


@wp.func
def state_in(draws: MaskedDraws, world: int):
    """Return the state of the random numbers of a world."""
    # pyrefly: ignore[bad-argument-type]
    return random_state(draws.key, draws.seeds[world], draws.first_world + world, draws.counts[world])


def launch_draws(
    kernel: Any, shape: Any, draws: Draws, world_mask: wp.array[wp.bool], *inputs: Any, counts: bool = True
) -> None:
    """Launch a kernel, whose first argument are the draws in the masked worlds, and count them. May be recorded."""
    masked: Any = MaskedDraws()
    masked.world_mask = world_mask
    masked.key, masked.seeds, masked.first_world, masked.counts = draws.arguments
    wp.launch(kernel, shape, [masked, *inputs], device=world_mask.device)
    if counts:
        draws.advance(world_mask)
