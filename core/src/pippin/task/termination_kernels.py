"""Kernels of terminations: one thread for each world."""

import warp as wp


@wp.kernel
def is_outside(values: wp.array2d[float], columns: wp.array[int], low: float, high: float, out: wp.array[wp.bool]):
    """Tell whether any number is not in [low, high]."""
    world = wp.tid()
    count = wp.int32(0)
    for i in range(columns.shape[0]):
        value = values[world, columns[i]]
        if not (value >= low and value <= high):
            count += 1
    out[world] = count > 0
