"""Ball joints in DOF order: three components of a rotation vector replace the four numbers of a quaternion."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from .indexing import PADDING, ArticulationIndices
from .kernels.balls import BallJoints, gather_balls, scatter_balls
from .launching import PreparedLaunch
from .memory import WarpArrayCache
from .row_selection import RowSelection


class Balls:
    """Reads and writes the ball joints of all rows."""

    def __init__(self, indices: ArticulationIndices, device: wp.Device) -> None:
        self._aliases, width = WarpArrayCache(), indices.dofs.shape[1]
        self._count = indices.ball_coords.shape[1]
        rows = np.arange(len(indices.dofs))[:, None]
        slots = np.where(indices.ball_coords == PADDING, 0, rows * width + indices.ball_columns)
        self._joints: Any = BallJoints()
        self._joints.coord_of = wp.array(indices.ball_coords.ravel(), dtype=int, device=device)
        self._joints.slot_of = wp.array(slots.ravel(), dtype=int, device=device)
        self._joints.count, self._joints.width = self._count, width
        self._gather, self._scatter = PreparedLaunch(gather_balls, device), PreparedLaunch(scatter_balls, device)

    def read(self, joint_q: wp.array, values: wp.array) -> None:
        """Write rotation vectors into `values`, shape [count, max_dofs]. May be recorded."""
        self._gather(self._joints.coord_of.size, [joint_q, self._joints, self._flat(values)])

    def write(self, joint_q: wp.array, data: wp.array, selection: RowSelection, faults: wp.array | None) -> None:
        """Write quaternions from rotation vectors in the selected rows. May be recorded.

        The kernel of the other DOFs counts the wrong indices, in the same faults.
        """
        inputs = [self._flat(data), self._joints, selection.argument, faults, joint_q]
        self._scatter(selection.count * self._count, inputs)

    def _flat(self, array: wp.array) -> wp.array:
        return self._aliases.of(array, wp.float32, array.size)
