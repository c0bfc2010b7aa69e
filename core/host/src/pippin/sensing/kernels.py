"""Kernels of reading times."""

import warp as wp


@wp.kernel
def invert(world_mask: wp.array[wp.bool], others: wp.array[wp.bool]):
    """Mask the worlds that are not masked."""
    world = wp.tid()
    others[world] = not world_mask[world]


@wp.kernel
def stamp(
    world_mask: wp.array[wp.bool],
    worlds: wp.array[int],
    step: wp.array[wp.int64],
    period: int,
    dt: wp.float64,
    times: wp.array[wp.float64],
    intervals: wp.array[float],
):
    """Set the time of the last reading or reset in the masked worlds, and the time left until their next reading."""
    row = wp.tid()
    if world_mask[worlds[row]]:
        left = period - int(step[0] % wp.int64(period))
        times[row] = wp.float64(step[0]) * dt
        intervals[row] = float(wp.float64(left) * dt)
