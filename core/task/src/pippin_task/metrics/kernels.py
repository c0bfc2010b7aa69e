"""Kernels of metrics, one thread for each world, which take the size of x from `out`."""

import warp as wp


@wp.kernel
def hold_within(limit: float, steps: int, latches: int, count: wp.array[int], out: wp.array[float]):
    """Count the steps in a row that the size of x is small, up to those that it needs; with a latch, these stay."""
    world = wp.tid()
    if latches == 0 or count[world] < steps:
        count[world] = wp.where(out[world] <= limit, wp.min(count[world] + 1, steps), 0)
    out[world] = wp.where(count[world] >= steps, 1.0, 0.0)


@wp.kernel
def average(count: wp.array[int], total: wp.array[wp.float64], out: wp.array[float]):
    """Add the size of x, if it is finite, and write the mean."""
    world = wp.tid()
    if wp.isfinite(out[world]):
        count[world] += 1
        total[world] += wp.float64(out[world])
    out[world] = float(total[world] / wp.float64(wp.max(count[world], 1)))


@wp.kernel
def forget(world_mask: wp.array[wp.bool], count: wp.array[int], total: wp.array[wp.float64]):
    """Begin anew in the masked worlds."""
    world = wp.tid()
    if world_mask[world]:
        count[world] = 0
        total[world] = wp.float64(0.0)
