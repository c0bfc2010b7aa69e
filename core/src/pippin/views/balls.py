"""Ball joints in DOF order: three components of a rotation vector replace the four numbers of a quaternion."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from .choice import Choice
from .indexing import PADDING, ArticulationIndices
from .kernels.balls import BallPlaces, gather_balls, scatter_balls
from .launching import Aliases, PreparedLaunch

__all__ = ["Balls"]


class Balls:
    """Reads and writes the ball joints of all rows.

    Args:
        indices: The joints of each row.
        device: Device of the simulation.
    """

    def __init__(self, indices: ArticulationIndices, device: wp.Device) -> None:
        self._aliases, width = Aliases(), indices.dofs.shape[1]
        self._count = indices.ball_coords.shape[1]
        rows = np.arange(len(indices.dofs))[:, None]
        slots = np.where(indices.ball_coords == PADDING, 0, rows * width + indices.ball_columns)
        self._places: Any = BallPlaces()
        self._places.coord_of = wp.array(indices.ball_coords.ravel(), dtype=int, device=device)
        self._places.slot_of = wp.array(slots.ravel(), dtype=int, device=device)
        self._places.count, self._places.width = self._count, width
        self._gather, self._scatter = PreparedLaunch(gather_balls, device), PreparedLaunch(scatter_balls, device)

    def read(self, joint_q: wp.array, values: wp.array) -> None:
        """Write rotation vectors into `values`, shape [count, max_dofs]. May be recorded."""
        self._gather(self._places.coord_of.size, [joint_q, self._places, self._flat(values)])

    def write(self, joint_q: wp.array, data: wp.array, choice: Choice, faults: wp.array | None) -> None:
        """Write quaternions from rotation vectors in the chosen rows. May be recorded.

        The kernel of the other DOFs counts the wrong indices, in the same faults.
        """
        inputs = [self._flat(data), self._places, choice.argument, faults, joint_q]
        self._scatter(choice.count * self._count, inputs)

    def _flat(self, array: wp.array) -> wp.array:
        return self._aliases.of(array, wp.float32, array.size)
