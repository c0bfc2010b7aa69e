"""Rows of chosen worlds in arrays of all worlds: the same memory if the worlds are evenly spaced, else a copy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import warp as wp
from pippin.devices import shares_memory

Update = Callable[[], Any]


def rows(array: Any, indices: np.ndarray) -> tuple[wp.array, Update | None]:
    """Return rows of an array's first axis, and the function that brings them up to date; None if they are the same
    memory.
    """
    step = _even_step(indices)
    if step is None:
        return _copied(array, indices)
    first = int(indices[0])
    return array[first : first + step * (len(indices) - 1) + 1 : step], None


def blocks(array: Any, starts: np.ndarray, size: int) -> tuple[wp.array, Update | None]:
    """Return equal parts of a flat array, shape [parts, size], and their update as in `rows`."""
    step = _even_step(starts)
    if step is None:
        copy, update = _copied(array, (starts[:, None] + np.arange(size)).ravel())
        return copy.reshape((len(starts), size)), update
    item = wp.types.type_size_in_bytes(array.dtype)
    strides = (item * (step if len(starts) > 1 else size), item)
    part = wp.array(
        ptr=array.ptr + item * int(starts[0]),
        shape=(len(starts), size),
        strides=strides,
        dtype=array.dtype,
        device=array.device,
    )
    part._ref = array  # the memory lives as long as the part
    return part, None


def _even_step(indices: np.ndarray) -> int | None:
    """Return the distance of neighbouring indices; None if they are not evenly spaced or not ascending."""
    steps = np.unique(np.diff(indices))
    if not len(steps):
        return 1
    return int(steps[0]) if len(steps) == 1 and steps[0] > 0 else None


def _copied(array: Any, indices: np.ndarray) -> tuple[wp.array, Update]:
    copy: Any = wp.empty((len(indices), *array.shape[1:]), dtype=array.dtype, device=array.device)
    if shares_memory(copy.device):
        source, target = array.numpy(), copy.numpy()
        return copy, partial(np.take, source, indices, axis=0, out=target, mode="clip")  # "raise" would make a buffer
    chosen = wp.array(indices, dtype=int, device=array.device)
    choice: Any = [chosen, *[None] * (array.ndim - 1)]
    picked: Any = wp.indexedarray(array, choice)
    return copy, partial(wp.copy, copy, picked)
