"""Structure of the articulations of a model, and kinds of its labelled objects, read from the joints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.axes import axis_labels
from pippin.labels import name_of

from .metatype import ArticulationMetatype, DofType, ObjectType


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
    linear = on_host(model.joint_dof_dim)[:, 0]
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
        dof_types=tuple(
            DofType.TRANSLATION if axis < linear[joint] else DofType.ROTATION
            for joint, count in zip(moving, dof_counts, strict=True)
            for axis in range(count)
        ),
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
