"""Kinds of labelled objects, read from the joints that move them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import newton
import numpy as np
from pippin.arrays import on_host

from .object_type import ObjectType
from .structure import tree_joints


def object_type(model: newton.Model, label: str, world: int | None = None) -> ObjectType:
    """Return the kind of the object with a label: of a body, else of a joint, else of an articulation.

    Args:
        model: The model of all worlds.
        label: The whole label, with or without the slash at its beginning; patterns match nothing.
        world: World of the object, -1 if it belongs to no world; by default the first world with this label.
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
    """Return the type of a body from the joint that moves it."""
    articulation_of = on_host(model.joint_articulation)
    for joint in np.flatnonzero(on_host(model.joint_child) == body).tolist():
        articulation = int(articulation_of[joint])
        if articulation < 0 or joint not in tree_joints(model, articulation):
            continue
        if _is_body_alone(model, articulation):
            return ObjectType.RIGID_BODY
        is_root = joint == tree_joints(model, articulation).start
        return ObjectType.ARTICULATION_ROOT_LINK if is_root else ObjectType.ARTICULATION_LINK
    return ObjectType.RIGID_BODY


def _is_body_alone(model: newton.Model, articulation: int) -> bool:
    """Return whether an articulation is only a free body."""
    joints = tree_joints(model, articulation)
    return len(joints) == 1 and int(on_host(model.joint_type)[joints.start]) == newton.JointType.FREE
