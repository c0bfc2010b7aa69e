"""Kernels of metrics: one thread for each world."""

import warp as wp


@wp.func
def size(
    world: int,
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
) -> float:
    """Return the square root of the sum of x²."""
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        x = values[world, columns[i]] - targets[world % targets.shape[0], target_columns[i]]
        total += x * x
    return wp.sqrt(total)


@wp.kernel
def hold_within(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    limit: float,
    steps: int,
    latches: int,
    count: wp.array[int],
    out: wp.array[float],
):
    """Count the steps in a row that x is small, up to those that it needs; with a latch, these stay."""
    world = wp.tid()
    if latches == 0 or count[world] < steps:
        is_small = size(world, values, columns, targets, target_columns) <= limit
        count[world] = wp.where(is_small, wp.min(count[world] + 1, steps), 0)
    out[world] = wp.where(count[world] >= steps, 1.0, 0.0)


@wp.kernel
def average(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    is_of_sizes: int,
    count: wp.array[int],
    total: wp.array[wp.float64],
    out: wp.array[float],
):
    """Add the size of x, or the mean of its sizes, if it is finite, and write the mean."""
    world = wp.tid()
    x = size(world, values, columns, targets, target_columns)
    if is_of_sizes > 0:
        x = wp.float32(0.0)
        for i in range(columns.shape[0]):
            target = targets[world % targets.shape[0], target_columns[i]]
            x += wp.abs(values[world, columns[i]] - target) / float(columns.shape[0])
    if wp.isfinite(x):
        count[world] += 1
        total[world] += wp.float64(x)
    out[world] = float(total[world] / wp.float64(wp.max(count[world], 1)))


@wp.kernel
def forget(world_mask: wp.array[wp.bool], count: wp.array[int], total: wp.array[wp.float64]):
    """Begin anew in the masked worlds."""
    world = wp.tid()
    if world_mask[world]:
        count[world] = 0
        total[world] = wp.float64(0.0)
