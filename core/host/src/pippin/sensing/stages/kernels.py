"""Kernels of stages.

Each kernel works on the numbers of an output, shape [worlds, numbers of a world]. `worlds` are the indices of these
worlds, and `seeds` the seeds of their random numbers, shape [worlds]; `counts` is the number of random numbers drawn so
far for each number, so that every draw is different.
"""

import warp as wp
from pippin.state import random_state

Mask, Ints, Ints2d, Floats2d = wp.array[wp.bool], wp.array[int], wp.array2d[int], wp.array2d[float]


@wp.func
def normal(seeds: Ints, counts: Ints2d, row: int, column: int):
    """Return the next normal deviate for a number, and count the draw."""
    generator = random_state(column, seeds[row], counts[row, column], 0)
    counts[row, column] += 1
    return wp.randn(generator)


@wp.kernel
def add_noise(worlds: Ints, world_mask: Mask, seeds: Ints, counts: Ints2d, std: float, values: Floats2d):
    """Add to each value a deviate times `std`."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        values[row, column] += std * normal(seeds, counts, row, column)


@wp.kernel
def draw_bias(worlds: Ints, world_mask: Mask, seeds: Ints, counts: Ints2d, mean: float, std: float, bias: Floats2d):
    """Bias = mean + std × deviate."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        bias[row, column] = mean + std * normal(seeds, counts, row, column)


@wp.kernel
def wander(
    worlds: Ints,
    world_mask: Mask,
    seeds: Ints,
    counts: Ints2d,
    decay: float,
    spread: float,
    error: Floats2d,
    values: Floats2d,
):
    """Error = decay × error + spread × deviate; values += error."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        error[row, column] = decay * error[row, column] + spread * normal(seeds, counts, row, column)
        values[row, column] += error[row, column]


@wp.kernel
def add_error(worlds: Ints, world_mask: Mask, seeds: Ints, counts: Ints2d, error: Floats2d, values: Floats2d):
    """Values += error."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        values[row, column] += error[row, column]


@wp.kernel
def zero_numbers(worlds: Ints, world_mask: Mask, seeds: Ints, counts: Ints2d, values: Floats2d):
    """Values = 0."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        values[row, column] = 0.0


@wp.kernel
def quantise(worlds: Ints, world_mask: Mask, seeds: Ints, counts: Ints2d, step: float, values: Floats2d):
    """Values = the nearest whole multiple of `step`; halves are rounded to the even multiple."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        values[row, column] = wp.rint(values[row, column] / step) * step


@wp.kernel
def exchange_readings(
    worlds: Ints,
    world_mask: Mask,
    seeds: Ints,
    counts: Ints2d,
    delay: int,
    written: Ints2d,
    ring: wp.array3d[float],
    values: Floats2d,
):
    """Write the values into a ring of delay + 1 readings, and read those of `delay` readings ago, or the first ones."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        count = written[row, column]
        ring[count % (delay + 1), row, column] = values[row, column]
        values[row, column] = ring[wp.max(count - delay, 0) % (delay + 1), row, column]
        written[row, column] = count + 1 if count < 2 * delay else count - delay  # a full ring; the count ends nowhere


@wp.kernel
def forget_readings(worlds: Ints, world_mask: Mask, seeds: Ints, counts: Ints2d, written: Ints2d):
    """Start the ring anew."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        written[row, column] = 0
