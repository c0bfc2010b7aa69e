"""Completion of an imported MJCF: what Newton's importer does not read, or adds to the file."""

from __future__ import annotations

from typing import Any

import mujoco
import newton

from .cameras import add_cameras
from .mjcf import NormalMJCF

__all__ = ["complete"]

_mujoco: Any = mujoco
"""MuJoCo; most of it is an extension without type stubs."""

_FREE, _BALL = int(_mujoco.mjtJoint.mjJNT_FREE), int(_mujoco.mjtJoint.mjJNT_BALL)


def complete(builder: newton.ModelBuilder, normal: NormalMJCF) -> None:
    """Set what free and ball joints have in a file, let bodies collide that only an equality joins, and add cameras.

    Args:
        builder: The builder of this asset alone.
        normal: The file.
    """
    for index in range(normal.model.njnt):
        joint = normal.model.joint(index)
        if int(joint.type[0]) in (_FREE, _BALL):
            _complete_joint(builder, joint)
    _free_pairs(builder, normal.model)
    add_cameras(builder, normal)


def _complete_joint(builder: newton.ModelBuilder, joint: Any) -> None:
    """Set damping, rotor inertia, friction, stiffness and, for a ball, the largest angle of a joint's DOFs."""
    found = _find(builder, joint.name)
    if found is None:  # the configuration fixes the root
        return
    dof, count = builder.joint_qd_start[found], len(joint.damping)
    values = {"damping": joint.damping, "armature": joint.armature, "friction": joint.frictionloss}
    values["stiffness"] = list(joint.stiffness) * count
    for name, given in values.items():
        getattr(builder, f"joint_{name}")[dof : dof + count] = map(float, given)
    if int(joint.type[0]) == _BALL and joint.limited[0]:
        builder.joint_limit_lower[dof : dof + count] = [0.0] * count
        builder.joint_limit_upper[dof : dof + count] = [float(joint.range[1])] * count


def _find(builder: newton.ModelBuilder, name: str) -> int | None:
    """Return the joint that Newton's importer made of a joint of the file; it replaces hyphens."""
    end = "/" + name.replace("-", "_")
    return next((index for index, label in enumerate(builder.joint_label) if label.endswith(end)), None)


def _free_pairs(builder: newton.ModelBuilder, model: Any) -> None:
    """Drop the collision filters of loop joints: Newton adds one to each connection or weld, and MuJoCo adds none."""
    in_tree = {child for child, of in zip(builder.joint_child, builder.joint_articulation, strict=True) if of >= 0}
    names = {model.body(index).name.replace("-", "_"): index for index in range(1, model.nbody)}
    theirs = {body: names.get(label.rpartition("/")[2]) for body, label in enumerate(builder.body_label)} | {-1: 0}
    freed = set()
    for parent, child, of in zip(builder.joint_parent, builder.joint_child, builder.joint_articulation, strict=True):
        if of >= 0 or child not in in_tree:
            continue
        first, second = theirs[parent], theirs[child]
        # A body that stands for a joint alone is not in the file; it has no shapes.
        if first is not None and second is not None and not _is_filtered(model, first, second):
            freed.add(frozenset((parent, child)))
    bodies = builder.shape_body
    builder.shape_collision_filter_pairs[:] = [
        pair for pair in builder.shape_collision_filter_pairs if frozenset(bodies[shape] for shape in pair) not in freed
    ]


def _is_filtered(model: Any, first: int, second: int) -> bool:
    """Tell whether MuJoCo itself lets two bodies never collide: parent and child, welded, or excluded."""
    own = [int(model.body_weldid[each]) for each in (first, second)]
    above = [int(model.body_weldid[model.body_parentid[each]]) for each in own]
    is_parent = all(own) and (own[0] == above[1] or own[1] == above[0])
    is_parent &= not model.opt.disableflags & int(_mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    signatures = {(first << 16) + second, (second << 16) + first}
    return own[0] == own[1] or is_parent or not signatures.isdisjoint(model.exclude_signature.tolist())
