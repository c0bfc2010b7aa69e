"""Kernels of rollouts: inputs that change from control step to control step, and their derivative."""

import warp as wp


@wp.func
def _put(rows: wp.array2d[float], now: int, before: int, index: wp.array[int], numbers: wp.array[float], i: int):
    numbers[index[i]] = rows[now, i]


@wp.func_grad(_put)
def _put_gradient(
    rows: wp.array2d[float], now: int, before: int, index: wp.array[int], numbers: wp.array[float], i: int
):
    at = index[i]
    wp.adjoint[rows][now, i] += wp.adjoint[numbers][at]
    wp.adjoint[numbers][at] = 0.0
    numbers[at] = rows[before, i]


@wp.kernel
def put_row(rows: wp.array2d[float], now: int, before: int, index: wp.array[int], numbers: wp.array[float]):
    """numbers[index] = rows[now]."""
    _put(rows, now, before, index, numbers, wp.tid())


@wp.func
def _count(now: wp.int64, before: wp.int64, counter: wp.array[wp.int64]):
    counter[0] = now


@wp.func_grad(_count)
def _count_gradient(now: wp.int64, before: wp.int64, counter: wp.array[wp.int64]):
    counter[0] = before


@wp.kernel
def set_count(now: wp.int64, before: wp.int64, counter: wp.array[wp.int64]):
    """Counter = now; in the backward pass, counter = before."""
    _count(now, before, counter)


@wp.kernel
def count_step(counts: wp.array[wp.int64]):
    """Count a control step."""
    world = wp.tid()
    counts[world] += wp.int64(1)


@wp.kernel
def restore_numbers(
    world_mask: wp.array[wp.bool],
    values: wp.array2d[float],
    index: wp.array2d[int],
    numbers: wp.array[float],
):
    """Write the values of the masked worlds."""
    world, i = wp.tid()
    if world_mask[world]:
        numbers[index[world, i]] = values[world, i]
