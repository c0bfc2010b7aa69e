"""Kernels of rollouts: the count of control steps, with its derivative, and numbers of chosen worlds."""

import warp as wp


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
