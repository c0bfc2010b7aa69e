"""Articulations of a model: padded maps of the indices of their numbers, their structure, and the kinds of objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.axes import axis_labels
from pippin.labels import name_of

from .kernels.rows import IndexMap
from .metatype import ArticulationMetatype, DofType, ObjectType
from .rules import LARGEST, ValueRule

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
    firsts = np.cumsum(counts) - counts
    return np.repeat(starts - firsts, counts) + np.arange(int(counts.sum()))


def _ranks(rows: np.ndarray, count: int) -> np.ndarray:
    lengths = np.bincount(rows, minlength=count)
    return np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def of_articulation(model: newton.Model, articulation: int) -> ArticulationMetatype:
    """Return the structure of one articulation of a model. Reads from the device."""
    joints = list(_tree_joints(model, articulation))
    parents, children = on_host(model.joint_parent), on_host(model.joint_child)
    types = {joint: newton.JointType(int(on_host(model.joint_type)[joint])) for joint in joints}
    moving = [joint for joint in joints if has_dofs(types[joint])]
    dof_counts = _counts(on_host(model.joint_qd_start), moving)
    coord_counts = _counts(on_host(model.joint_q_start), moving)
    link_of = {int(children[joint]): link for link, joint in enumerate(joints)}
    link_labels = tuple(model.body_label[children[joint]] for joint in joints)
    joint_labels = tuple(model.joint_label[joint] for joint in moving)
    dof_types = ArticulationIndices.of(model, np.array([articulation])).dof_types[0]
    return ArticulationMetatype(
        link_names=_names(link_labels),
        link_parents=tuple(link_of.get(int(parents[joint]), -1) for joint in joints),
        joint_names=_names(joint_labels),
        joint_types=tuple(types[joint] for joint in moving),
        joint_dof_offsets=_offsets(dof_counts),
        joint_dof_counts=dof_counts,
        joint_coord_offsets=_offsets(coord_counts),
        joint_coord_counts=coord_counts,
        dof_names=_names(axis_labels(model, moving)),
        dof_types=tuple(map(DofType, dof_types.tolist())),
        is_fixed_base=types[joints[0]] != newton.JointType.FREE,
        link_labels=link_labels,
        joint_labels=joint_labels,
    )


def has_dofs(joint_type: newton.JointType | int) -> bool:
    """Return whether a joint has degrees of freedom, other than those of a free body's pose."""
    kinds = newton.JointType
    return kinds(joint_type) in (kinds.PRISMATIC, kinds.REVOLUTE, kinds.BALL, kinds.D6)


def object_type(model: newton.Model, label: str, world: int | None = None) -> ObjectType:
    """Return the kind of the object with a label: of a body, else of a joint, else of an articulation.

    The arguments are those of `SimulationView.object_type`.
    """
    for body in _with_label(model.body_label, on_host(model.body_world), label, world):
        return _of_body(model, body)
    for joint in _with_label(model.joint_label, on_host(model.joint_world), label, world):
        is_in_one = on_host(model.joint_articulation)[joint] >= 0
        return ObjectType.ARTICULATION_JOINT if is_in_one else ObjectType.INVALID
    for articulation in _with_label(model.articulation_label, on_host(model.articulation_world), label, world):
        return ObjectType.RIGID_BODY if _is_body_alone(model, articulation) else ObjectType.ARTICULATION
    return ObjectType.INVALID


def _with_label(labels: Sequence[str], worlds: np.ndarray, label: str, world: int | None) -> Iterator[int]:
    same = (label, label.removeprefix("/"), f"/{label}")
    for index, other in enumerate(labels):
        if other in same and world in (None, int(worlds[index])):
            yield index


def _of_body(model: newton.Model, body: int) -> ObjectType:
    articulation_of = on_host(model.joint_articulation)
    for joint in np.flatnonzero(on_host(model.joint_child) == body).tolist():
        articulation = int(articulation_of[joint])
        if articulation < 0 or joint not in _tree_joints(model, articulation):
            continue
        if _is_body_alone(model, articulation):
            return ObjectType.RIGID_BODY
        is_root = joint == _tree_joints(model, articulation).start
        return ObjectType.ARTICULATION_ROOT_LINK if is_root else ObjectType.ARTICULATION_LINK
    return ObjectType.RIGID_BODY


def _is_body_alone(model: newton.Model, articulation: int) -> bool:
    joints = _tree_joints(model, articulation)
    return len(joints) == 1 and int(on_host(model.joint_type)[joints.start]) == newton.JointType.FREE


def _tree_joints(model: newton.Model, articulation: int) -> range:
    """Return the joints of an articulation's tree, root first; joints that close loops come later and are left out."""
    starts, ends = on_host(model.articulation_start), on_host(model.articulation_end)
    return range(int(starts[articulation]), int(ends[articulation]))


def _counts(starts: np.ndarray, joints: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(starts[joint + 1] - starts[joint]) for joint in joints)


def _offsets(counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(sum(counts[:index]) for index in range(len(counts)))


def _names(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(name_of, labels))
