"""Prepared launches and host views of arrays, for operations that steps repeat with the same arrays.

Closures hold the prepared objects, so that a checkpoint does not find them: they are valid in this process only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import warp as wp

__all__ = ["host_views", "launcher"]

_KEPT = 16
"""Size of the caches; a simulation has two states and one control."""


def launcher(kernel: Any, shape: int | tuple[int, ...], *fixed: Any) -> Callable[..., None]:
    """Return a function that launches a kernel on the CPU; a recorded launch costs a seventh of a new one.

    Args:
        kernel: The kernel. Its last arguments, arrays that differ between calls, are the arguments of the function.
        shape: The number of threads.
        fixed: The first arguments of the kernel.
    """

    @lru_cache(maxsize=_KEPT)
    def recorded(*arrays: wp.array) -> Any:
        launch = wp.launch(kernel, shape, [*fixed, *arrays], device="cpu", record_cmd=True)
        if launch is None:  # an error is not cached
            raise RuntimeError(f"kernel {kernel.key} is not compiled")
        return launch

    return lambda *arrays: recorded(*arrays).launch()


def host_views(world_count: int) -> Callable[[wp.array], np.ndarray]:
    """Return a function from an array on the CPU to a cached view, one row per world: making a view is slow."""
    return lru_cache(maxsize=_KEPT)(lambda array: np.asarray(array).reshape(world_count, -1))
