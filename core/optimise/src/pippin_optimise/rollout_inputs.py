"""Inputs that change from control step to control step of a rollout, with the derivative that a tape needs.

A tape reads in its backward pass what the forward pass read. An array that is written anew in each control step would
hold the last numbers then. So the backward pass of the write puts back what was there before, after it has taken the
gradient of the numbers that it wrote.
"""

from __future__ import annotations

import numpy as np
import warp as wp

from .kernels import put_row


def flat(array: wp.array) -> wp.array:
    """View a contiguous array of real numbers or vectors as numbers, one after the other, with their gradient."""
    return array.view(wp.float32).reshape(array.size * wp.types.type_size(array.dtype))


class InputRows:
    """Numbers that a rollout reads, at places of a contiguous array with gradients: a row of them for each control
    step.
    """

    def __init__(self, array: wp.array, index: np.ndarray, count: int) -> None:
        self._flat = flat(array)
        self._index = wp.array(index.ravel(), dtype=int, device=array.device)
        #: The rows, shape [count, numbers], with gradients.
        self.rows: wp.array = wp.zeros((count, index.size), dtype=float, device=array.device, requires_grad=True)

    def write(self, number: int) -> None:
        """Write the row of a control step into the array, on a tape if there is one."""
        inputs = [self.rows, number, max(number - 1, 0), self._index, self._flat]
        wp.launch(put_row, self._index.size, inputs, device=self._index.device)
