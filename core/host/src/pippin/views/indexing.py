"""Indices of the numbers of an articulation's rows in Newton's arrays: padded maps."""

from __future__ import annotations

from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host

from .kernels.rows import IndexMap
from .metatype import DofType
from .rules import LARGEST, ValueRule
from .structure import has_dofs

PADDING = -1
"""Number in index maps for elements that a shorter row does not have."""


@attrs.frozen(kw_only=True, eq=False)
class ArticulationIndices:
    """The elements of some articulations, by row. A link is the body that a joint of the tree moves."""

    joints: np.ndarray
    """Joint that moves each link, shape [count, max_links]."""

    links: np.ndarray
    """Body of each link, shape [count, max_links]."""

    dofs: np.ndarray
    """DOFs of all joints with degrees of freedom, without those of a free root, shape [count, max_dofs]."""

    coords: np.ndarray
    """Coordinates of the same joints, shape [count, max_coords]."""

    dof_coords: np.ndarray
    """Coordinate of each DOF, shape [count, max_dofs]; padding for the DOFs of ball joints, which share four."""

    dof_types: np.ndarray
    """`DofType` of each DOF, shape [count, max_dofs], uint8; padding is 0."""

    ball_coords: np.ndarray
    """First coordinate of each ball joint, shape [count, max_balls]."""

    ball_columns: np.ndarray
    """Column of the first DOF of each ball joint, shape [count, max_balls]."""

    root_coords: np.ndarray
    """First of the seven coordinates of a free root, shape [count]; padding if the root is not free."""

    root_dofs: np.ndarray
    """First of the six DOFs of a free root, shape [count]; padding if the root is not free."""

    @classmethod
    def of(cls, model: newton.Model, articulations: np.ndarray) -> ArticulationIndices:
        """Return the indices of articulations of a model. Reads from the device."""
        count = len(articulations)
        first_joints = on_host(model.articulation_start)[articulations]
        joint_counts = on_host(model.articulation_end)[articulations] - first_joints  # of the trees, root first
        rows, joints = np.repeat(np.arange(count), joint_counts), _ranges(first_joints, joint_counts)
        q, qd = on_host(model.joint_q_start), on_host(model.joint_qd_start)
        types = on_host(model.joint_type)
        moving = np.isin(types[joints], [kind for kind in np.unique(types) if has_dofs(kind)])
        mine, mover = rows[moving], joints[moving]
        dof_counts, coord_counts = (qd[mover + 1] - qd[mover]), (q[mover + 1] - q[mover])
        is_ball = dof_counts != coord_counts
        dof_rows = np.repeat(mine, dof_counts)
        coords = _ranges(q[mover], coord_counts)
        columns = _ranks(dof_rows, count)
        firsts = np.cumsum(dof_counts) - dof_counts
        dof_coords = np.where(np.repeat(is_ball, dof_counts), PADDING, _ranges(q[mover], dof_counts))
        linear_counts = on_host(model.joint_dof_dim)[mover, 0]
        is_linear = _ranges(np.zeros_like(dof_counts), dof_counts) < np.repeat(linear_counts, dof_counts)
        types_of_dofs = np.where(is_linear, DofType.TRANSLATION, DofType.ROTATION)
        roots = joints[np.flatnonzero(np.diff(rows, prepend=-1))]
        root_coords, root_dofs = free_roots(model, roots)
        return cls(
            joints=padded(rows, joints, count, least=1),
            links=padded(rows, on_host(model.joint_child)[joints], count, least=1),
            dofs=padded(dof_rows, _ranges(qd[mover], dof_counts), count),
            coords=padded(np.repeat(mine, coord_counts), coords, count),
            dof_coords=padded(dof_rows, dof_coords, count),
            dof_types=np.maximum(padded(dof_rows, types_of_dofs, count), 0).astype(np.uint8),
            ball_coords=padded(mine[is_ball], q[mover][is_ball], count),
            ball_columns=padded(mine[is_ball], columns[firsts[is_ball]], count),
            root_coords=root_coords,
            root_dofs=root_dofs,
        )

    @property
    def generalized(self) -> np.ndarray:
        """The six DOFs of a free root, if any row has one, then the others, shape [count, 6 + max_dofs]."""
        if (self.root_dofs == PADDING).all():
            return self.dofs
        own = np.where(self.root_dofs[:, None] == PADDING, PADDING, self.root_dofs[:, None] + np.arange(6))
        return np.concatenate([own, self.dofs], axis=1)


def free_roots(model: newton.Model, joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first coordinate and the first DOF of joints that leave a body free in the world, else padding."""
    kinds = (int(newton.JointType.FREE), int(newton.JointType.DISTANCE))
    is_free = np.isin(on_host(model.joint_type)[joints], kinds) & (on_host(model.joint_parent)[joints] < 0)
    is_free &= joints >= 0
    starts = [on_host(model.joint_q_start)[joints], on_host(model.joint_qd_start)[joints]]
    coords, dofs = (np.where(is_free, start, PADDING).astype(np.int32) for start in starts)
    return coords, dofs


def padded(rows: np.ndarray, values: np.ndarray, count: int, least: int = 0) -> np.ndarray:
    """Return values as padded rows, shape [count, longest row], int32, from the row of each value, ascending.

    Without values, there are `least` columns.
    """
    ranks = _ranks(rows, count)
    width = int(ranks.max()) + 1 if len(ranks) else least
    table = np.full((count, width), PADDING, dtype=np.int32)
    table[rows, ranks] = values
    return table


def index_map(
    elements: np.ndarray, device: wp.Device, rule: ValueRule | None = None, quaternion: np.ndarray | None = None
) -> Any:
    """Return an index map as an argument of kernels, see `kernels.rows.IndexMap`.

    The elements and their positions in quaternions have the shape [rows, columns]. Without a rule, every value is
    allowed; without positions, no element belongs to a quaternion.
    """
    result: Any = IndexMap()
    result.elements = wp.array(elements.ravel(), dtype=int, device=device)
    result.width = elements.shape[1]
    result.low, result.high = (-LARGEST, LARGEST) if rule is None else (rule.low, rule.high)
    if quaternion is not None:
        result.quaternion = wp.array(quaternion.ravel(), dtype=int, device=device)
    return result


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return start, start + 1, ... of each run, one run after the other."""
    firsts = np.cumsum(counts) - counts
    return np.repeat(starts - firsts, counts) + np.arange(int(counts.sum()))


def _ranks(rows: np.ndarray, count: int) -> np.ndarray:
    """Return the position of each entry within its row."""
    lengths = np.bincount(rows, minlength=count)
    return np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
