"""Kernels of stages.

Each kernel works on the numbers of an output, shape [worlds, numbers of a world]. `worlds` are the indices of these
worlds, and `seeds` the seeds of their random numbers, shape [worlds]; `counts` is the number of random numbers drawn so
far for each number, so that every draw is different.
"""

import warp as wp
from pippin.state import random_state


@wp.func
def normal(seeds: wp.array[int], counts: wp.array2d[int], row: int, column: int):
    """Return the next normal deviate for a number, and count the draw."""
    generator = random_state(column, seeds[row], counts[row, column], 0)
    counts[row, column] += 1
    return wp.randn(generator)


@wp.kernel
def add_noise(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    std: float,
    values: wp.array2d[float],
):
    """Add to each value a deviate times `std`."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        values[row, column] += std * normal(seeds, counts, row, column)


@wp.kernel
def draw_bias(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    mean: float,
    std: float,
    bias: wp.array2d[float],
):
    """Bias = mean + std × deviate."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        bias[row, column] = mean + std * normal(seeds, counts, row, column)


@wp.kernel
def wander(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    decay: float,
    spread: float,
    error: wp.array2d[float],
    values: wp.array2d[float],
):
    """Error = decay × error + spread × deviate; values += error."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        error[row, column] = decay * error[row, column] + spread * normal(seeds, counts, row, column)
        values[row, column] += error[row, column]


@wp.kernel
def add_error(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    error: wp.array2d[float],
    values: wp.array2d[float],
):
    """Values += error."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        values[row, column] += error[row, column]


@wp.kernel
def zero_numbers(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    values: wp.array2d[float],
):
    """Values = 0."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        values[row, column] = 0.0


@wp.kernel
def quantise(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    step: float,
    values: wp.array2d[float],
):
    """Values = the nearest whole multiple of `step`; halves are rounded to the even multiple."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        values[row, column] = wp.rint(values[row, column] / step) * step


@wp.kernel
def exchange_readings(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    delay: int,
    written: wp.array2d[int],
    ring: wp.array3d[float],
    values: wp.array2d[float],
):
    """Write the values into a ring of delay + 1 readings, and read those of `delay` readings ago, or the first ones."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        count = written[row, column]
        ring[count % (delay + 1), row, column] = values[row, column]
        values[row, column] = ring[wp.max(count - delay, 0) % (delay + 1), row, column]
        written[row, column] = count + 1


@wp.kernel
def forget_readings(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    written: wp.array2d[int],
):
    """Start the ring anew."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        written[row, column] = 0
