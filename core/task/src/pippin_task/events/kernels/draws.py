"""Parts that the kernels of events share: the worlds that draw, and the numbers that are drawn."""

import warp as wp
from pippin.state import random_state


@wp.struct
class EventDraws:
    """The worlds in which an event draws now, and the key of its random numbers."""

    world_mask: wp.array(dtype=wp.bool)
    key: int
    seeds: wp.array(dtype=int)
    first_world: int
    counts: wp.array(dtype=int)


@wp.func
def state_in(draws: EventDraws, world: int):
    """Return the state of the random numbers of a world."""
    return random_state(draws.key, draws.seeds[world], draws.first_world + world, draws.counts[world])


@wp.func
def draw_six(state: wp.uint32, low: wp.spatial_vector, high: wp.spatial_vector, std: float):
    """Return six numbers, uniform from low to high, plus normal ones."""
    drawn = wp.spatial_vector()
    for axis in range(6):
        of_axis = wp.rand_init(wp.int32(state), axis)
        drawn[axis] = wp.randf(of_axis, low[axis], high[axis]) + std * wp.randn(of_axis)
    return drawn


@wp.struct
class StartRanges:
    """Ranges of what is added to pose and velocity at a start."""

    low: wp.spatial_vector
    high: wp.spatial_vector
    velocity_low: wp.spatial_vector
    velocity_high: wp.spatial_vector
    velocity_std: float


@wp.func
def draw_start(state: wp.uint32, ranges: StartRanges):
    """Return what is added to a pose, with the turn in roll, pitch and yaw, and to a velocity."""
    moved = draw_six(wp.rand_init(wp.int32(state), 0), ranges.low, ranges.high, 0.0)
    of_velocity = wp.rand_init(wp.int32(state), 1)
    return moved, draw_six(of_velocity, ranges.velocity_low, ranges.velocity_high, ranges.velocity_std)


@wp.struct
class VariationRanges:
    """Ranges of values around built ones: scale × the built value + a number."""

    scale: wp.vec2
    add: wp.vec2
    stride: int
    """Columns from the draws of one part to those of the next: 0 for one draw in a world, 1 for one of each part."""

    is_log: int
    """Whether the ranges are of logarithms, which are uniform."""


@wp.func
def varied(draws: EventDraws, world: int, part: int, ranges: VariationRanges, built: float):
    """Return a value of a part of a world around the built one."""
    state = wp.rand_init(wp.int32(state_in(draws, world)), part * ranges.stride)
    factor = wp.randf(state, ranges.scale[0], ranges.scale[1])
    number = wp.randf(state, ranges.add[0], ranges.add[1])
    if ranges.is_log != 0:
        factor = wp.exp(factor)
        number = wp.exp(number)
    return built * factor + number
