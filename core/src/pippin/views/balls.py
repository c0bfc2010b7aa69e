"""Ball joints in DOF order: three components of a rotation vector stand for the four numbers of a quaternion."""

from __future__ import annotations

import numpy as np
import warp as wp

from . import kernels
from .choice import Choice
from .indexing import PADDING, ArticulationIndices

__all__ = ["Balls"]


class Balls:
    """Reads and writes the ball joints of all rows.

    Args:
        indices: Where the joints of each row are.
        faults: What the kernel that runs beside counts into.
    """

    def __init__(self, indices: ArticulationIndices, faults: wp.array) -> None:
        self._faults = faults
        self._width = indices.dofs.shape[1]
        self._count = indices.ball_coords.shape[1]
        rows = np.arange(len(indices.dofs))[:, None]
        slots = np.where(indices.ball_coords == PADDING, 0, rows * self._width + indices.ball_columns)
        self._coords, self._slots = (
            wp.array(each.ravel(), dtype=int, device=faults.device) for each in (indices.ball_coords, slots)
        )

    def read(self, joint_q: wp.array, values: wp.array) -> None:
        """Write rotation vectors into `values`, shape [count, max_dofs]. May be recorded."""
        inputs = [joint_q, self._coords, self._slots, values.flatten()]
        wp.launch(kernels.gather_balls, self._coords.size, inputs, device=self._faults.device)

    def write(self, joint_q: wp.array, data: wp.array, choice: Choice) -> None:
        """Write quaternions from rotation vectors in the chosen rows. May be recorded."""
        inputs = [data.flatten(), self._width, self._coords, self._slots, self._count]
        inputs += [choice.rows, choice.mask, choice.is_compact, self._faults, joint_q]
        row_count = self._coords.size // self._count if choice.rows is None else len(choice.rows)
        wp.launch(kernels.scatter_balls, row_count * self._count, inputs, device=self._faults.device)
