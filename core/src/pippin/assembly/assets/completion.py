"""Completion of an imported MJCF: properties of joints that Newton's importer does not read."""

from __future__ import annotations

from typing import Any

import mujoco
import newton

from .mjcf import NormalMJCF

__all__ = ["complete"]

_mujoco: Any = mujoco
"""MuJoCo; most of it is an extension without type stubs."""

_MULTIPLE = (int(_mujoco.mjtJoint.mjJNT_FREE), int(_mujoco.mjtJoint.mjJNT_BALL))


def complete(builder: newton.ModelBuilder, normal: NormalMJCF) -> None:
    """Set what free and ball joints have in a file: damping, rotor inertia and friction.

    Args:
        builder: The builder of this asset alone.
        normal: The file.
    """
    model = normal.model
    for index in range(model.njnt):
        joint = model.joint(index)
        if int(joint.type[0]) in _MULTIPLE:
            dof = builder.joint_qd_start[_find(builder, joint.name)]
            count = len(joint.damping)
            for values, name in (
                (joint.damping, "damping"),
                (joint.armature, "armature"),
                (joint.frictionloss, "friction"),
            ):
                getattr(builder, f"joint_{name}")[dof : dof + count] = map(float, values)


def _find(builder: newton.ModelBuilder, name: str) -> int:
    """Return the joint that Newton's importer made of a joint of the file; it replaces hyphens."""
    end = "/" + name.replace("-", "_")
    return next(index for index, label in enumerate(builder.joint_label) if label.endswith(end))
