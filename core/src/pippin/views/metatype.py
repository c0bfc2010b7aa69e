"""What an articulation consists of: links, joints and degrees of freedom, named, ordered and related."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

import attrs
from pippin.arrays import on_host

if TYPE_CHECKING:
    import newton
    import numpy as np

__all__ = ["ArticulationMetatype", "DofType", "has_dofs", "of_articulation", "tree_joints"]


class DofType(IntEnum):
    """What a degree of freedom moves along or about."""

    ROTATION = 0
    TRANSLATION = 1


@attrs.frozen(kw_only=True)
class ArticulationMetatype:
    """The structure of an articulation, equal for all copies of a robot.

    A link is the body that a joint of the tree moves, in the order of the joints; those that close a loop move none.
    The joints listed here are those with degrees of freedom of their own: a fixed joint has none, and those of a free
    body are its root's pose and velocity. Offsets count within the articulation.
    """

    link_names: tuple[str, ...]
    """Last segment of each link's label."""

    link_parents: tuple[int, ...]
    """Index of the link that each link is joined to; -1 where that is the world or none of the articulation."""

    joint_names: tuple[str, ...]
    """Last segment of each joint's label."""

    joint_types: tuple[newton.JointType, ...]

    joint_dof_offsets: tuple[int, ...]
    """First degree of freedom of each joint."""

    joint_dof_counts: tuple[int, ...]

    joint_coord_offsets: tuple[int, ...]
    """First coordinate of each joint: a ball joint has four, a quaternion, and three degrees of freedom."""

    joint_coord_counts: tuple[int, ...]

    dof_names: tuple[str, ...]
    """Name of the joint, with `:0`, `:1` and so on for those of ball and D6 joints."""

    dof_types: tuple[DofType, ...]

    is_fixed_base: bool
    """Whether the root is joined to the world otherwise than by a free joint. It may turn about a hinge there."""

    link_labels: tuple[str, ...] = attrs.field(eq=False)
    joint_labels: tuple[str, ...] = attrs.field(eq=False)

    @property
    def link_count(self) -> int:
        """The number of links."""
        return len(self.link_names)

    @property
    def joint_count(self) -> int:
        """The number of joints with degrees of freedom, a free root left out."""
        return len(self.joint_names)

    @property
    def dof_count(self) -> int:
        """The number of their degrees of freedom."""
        return len(self.dof_names)

    @property
    def coord_count(self) -> int:
        """The number of their coordinates."""
        return sum(self.joint_coord_counts)

    @property
    def link_indices(self) -> Mapping[str, int]:
        """Index of each link, by its name and by its label."""
        return _indices(self.link_labels, self.link_names)

    @property
    def joint_indices(self) -> Mapping[str, int]:
        """Index of each joint, by its name and by its label."""
        return _indices(self.joint_labels, self.joint_names)

    @property
    def dof_indices(self) -> Mapping[str, int]:
        """Index of each degree of freedom by its name."""
        return _indices(self.dof_names)

    @property
    def fixed_base(self) -> bool:
        """Isaac's name of `is_fixed_base`."""
        return self.is_fixed_base


def of_articulation(model: newton.Model, articulation: int) -> ArticulationMetatype:
    """Return the structure of one articulation of a model. Reads from the device."""
    import newton

    joints = list(tree_joints(model, articulation))
    parents, children = on_host(model.joint_parent), on_host(model.joint_child)
    types = {joint: newton.JointType(int(on_host(model.joint_type)[joint])) for joint in joints}
    moving = [joint for joint in joints if has_dofs(types[joint])]
    dof_counts = _counts(on_host(model.joint_qd_start), moving)
    coord_counts = _counts(on_host(model.joint_q_start), moving)
    link_of = {int(children[joint]): link for link, joint in enumerate(joints)}
    link_labels = tuple(model.body_label[children[joint]] for joint in joints)
    joint_labels = tuple(model.joint_label[joint] for joint in moving)
    linear = on_host(model.joint_dof_dim)[:, 0]  # pyright: ignore[reportArgumentType] (a 2-D array)
    return ArticulationMetatype(
        link_names=_names(link_labels),
        link_parents=tuple(link_of.get(int(parents[joint]), -1) for joint in joints),
        joint_names=_names(joint_labels),
        joint_types=tuple(types[joint] for joint in moving),
        joint_dof_offsets=_offsets(dof_counts),
        joint_dof_counts=dof_counts,
        joint_coord_offsets=_offsets(coord_counts),
        joint_coord_counts=coord_counts,
        dof_names=tuple(
            name
            for joint, label, count in zip(moving, joint_labels, dof_counts, strict=True)
            for name in _dof_names(label, types[joint], count)
        ),
        dof_types=tuple(
            DofType.TRANSLATION if axis < linear[joint] else DofType.ROTATION
            for joint, count in zip(moving, dof_counts, strict=True)
            for axis in range(count)
        ),
        is_fixed_base=types[joints[0]] != newton.JointType.FREE,
        link_labels=link_labels,
        joint_labels=joint_labels,
    )


def tree_joints(model: newton.Model, articulation: int) -> range:
    """Return the joints of an articulation's tree, root first; those that close loops come after, and are left out."""
    starts, ends = on_host(model.articulation_start), on_host(model.articulation_end)
    return range(int(starts[articulation]), int(ends[articulation]))


def has_dofs(joint_type: newton.JointType | int) -> bool:
    """Tell whether a joint has degrees of freedom that are not simply those of a body's pose."""
    import newton

    kinds = newton.JointType
    return kinds(joint_type) in (kinds.PRISMATIC, kinds.REVOLUTE, kinds.BALL, kinds.D6)


def _dof_names(label: str, joint_type: newton.JointType, count: int) -> list[str]:
    import newton

    name = _name(label)
    if joint_type in (newton.JointType.BALL, newton.JointType.D6):
        return [f"{name}:{axis}" for axis in range(count)]
    return [name] * count


def _counts(starts: np.ndarray, joints: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(starts[joint + 1] - starts[joint]) for joint in joints)


def _offsets(counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(sum(counts[:index]) for index in range(len(counts)))


def _indices(*namings: Sequence[str]) -> dict[str, int]:
    """Return the index of each name; the first thing of a name that is not unique."""
    return {name: index for names in namings for index, name in reversed(list(enumerate(names)))}


def _names(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(_name, labels))


def _name(label: str) -> str:
    return label.rpartition("/")[2]
