"""Plain joints, whose coordinates are independent numbers: revolute, prismatic, D6.

Their coordinates are copied to and from MuJoCo as whole columns, which NumPy does faster than a kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernels import PLAIN

__all__ = ["PlainJoints", "as_index", "dof_columns", "shift_or_none"]


class PlainJoints:
    """Indices of the plain joints of a world in Newton's and in MuJoCo's arrays.

    Args:
        joints: All joints of a world.
    """

    def __init__(self, joints: Any) -> None:
        is_plain = joints.kind.numpy() == int(PLAIN)
        counts = joints.qd_count.numpy()[is_plain]
        names = ("q", "qd", "qpos", "qvel")
        starts = (getattr(joints, name).numpy()[is_plain] for name in names)
        columns = [dof_columns(start, counts) for start in starts]
        self._q, self._qd, self._qpos, self._qvel = map(as_index, columns)
        self._shift = shift_or_none(-joints.reference.numpy()[:, columns[1]])

    def write(self, qpos: np.ndarray, qvel: np.ndarray, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """Write coordinates and velocities to Newton's arrays; shapes [worlds, coordinates or DOFs of a world]."""
        values = qpos[:, self._qpos]
        joint_q[:, self._q] = values if self._shift is None else values + self._shift
        joint_qd[:, self._qd] = qvel[:, self._qvel]

    def write_efforts(self, joint_f: np.ndarray, qfrc: np.ndarray) -> None:
        """Write the efforts [N, N·m]."""
        qfrc[:, self._qvel] = joint_f[:, self._qd]


def shift_or_none(shift: np.ndarray) -> np.ndarray | None:
    """Return the offset to add to columns; None if it is zero, as in most models."""
    return shift if shift.any() else None


def as_index(indices: np.ndarray) -> Any:
    """Return indices as a slice if they are consecutive: NumPy copies a slice several times as fast."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def dof_columns(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the columns of joints, given the first column and the number of columns of each."""
    ranges = (start + np.arange(count) for start, count in zip(starts, counts, strict=True))
    return np.concatenate([np.zeros(0, dtype=int), *ranges])
