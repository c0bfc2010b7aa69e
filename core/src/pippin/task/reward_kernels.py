"""Kernels of rewards: one thread for each world."""

import warp as wp


@wp.func
def rest(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    world: int,
    i: int,
) -> float:
    """Return x_i = value − target; targets have one row for all worlds, or one for each."""
    return values[world, columns[i]] - targets[world % targets.shape[0], target_columns[i]]


@wp.kernel
def sum_values(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    parameters: wp.vec2,
    out: wp.array[float],
):
    """Sum x."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        total += rest(values, columns, targets, target_columns, world, i)
    out[world] = total


@wp.kernel
def sum_absolute(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    parameters: wp.vec2,
    out: wp.array[float],
):
    """Sum abs(x)."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        total += wp.abs(rest(values, columns, targets, target_columns, world, i))
    out[world] = total


@wp.kernel
def sum_squares(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    parameters: wp.vec2,
    out: wp.array[float],
):
    """Sum x²."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        x = rest(values, columns, targets, target_columns, world, i)
        total += x * x
    out[world] = total


@wp.kernel
def is_alive(terminated: wp.array[wp.bool], out: wp.array[float]):
    """Write 1 if the episode goes on, else 0."""
    world = wp.tid()
    out[world] = wp.where(terminated[world], 0.0, 1.0)
