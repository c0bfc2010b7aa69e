"""Kernels of rollouts: the count of control steps, with its derivative."""

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
