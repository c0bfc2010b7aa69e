"""What a step does over and over with the same arrays, prepared once for each: launches, and views on the host.

Both keep what they prepare to themselves: it is bound to this process, and nothing that a checkpoint should hold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import warp as wp

__all__ = ["host_views", "launcher"]

_KEPT = 16
"""Arrays kept in mind; a simulation has two states and one control."""


def launcher(kernel: Any, shape: int | tuple[int, ...], *fixed: Any) -> Callable[..., None]:
    """Return a function that launches a kernel on the CPU; a recorded launch costs a seventh of a new one.

    Args:
        kernel: The kernel. Its last arguments, arrays that change from call to call, are those of the function.
        shape: How many threads.
        fixed: Its first arguments.
    """

    @lru_cache(maxsize=_KEPT)
    def recorded(*arrays: wp.array) -> Any:
        launch = wp.launch(kernel, shape, [*fixed, *arrays], device="cpu", record_cmd=True)
        if launch is None:  # an error is not kept in mind
            raise RuntimeError(f"kernel {kernel.key} is not compiled")
        return launch

    return lambda *arrays: recorded(*arrays).launch()


def host_views(world_count: int) -> Callable[[wp.array], np.ndarray]:
    """Return a function from an array on the CPU to a view, a row per world; making one costs more than reading it."""
    return lru_cache(maxsize=_KEPT)(lambda array: array.numpy().reshape(world_count, -1))
