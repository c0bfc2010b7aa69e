"""Completion of an imported MJCF: what Newton's importer does not read, or adds to the file."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.assets.untyped import mujoco
from pippin.sensing.sites import declare_cameras, mark_camera

from .filters import match_pairs
from .normal_form import NormalMJCF

_FIXED = int(mujoco.mjtCamLight.mjCAMLIGHT_FIXED)
_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


def complete(builder: newton.ModelBuilder, normal: NormalMJCF, *, is_as_written: bool) -> None:
    """Set what free and ball joints have in a file, let the same shapes collide as in MuJoCo, and add cameras."""
    for index in range(normal.model.njnt):
        joint = normal.model.joint(index)
        if int(joint.type[0]) in (_FREE, _BALL):
            _complete_joint(builder, joint)
    match_pairs(builder, normal.model, is_as_written=is_as_written)
    _add_cameras(builder, normal)


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


def _add_cameras(builder: newton.ModelBuilder, normal: NormalMJCF) -> None:
    """Add the cameras that are fixed to a body. Others, which follow a body without turning, have no fixed pose."""
    declare_cameras(builder)
    bodies = {label.rpartition("/")[2]: body for body, label in enumerate(builder.body_label)}
    for index in range(normal.model.ncam):
        camera: Any = normal.model.cam(index)
        body = bodies.get(normal.model.body(int(camera.bodyid[0])).name.replace("-", "_"))
        if camera.name and body is not None and int(camera.mode[0]) == _FIXED:
            frame = wp.transform(camera.pos, np.roll(camera.quat, -1))
            site = builder.add_site(body, xform=frame, label=f"{builder.body_label[body]}/{camera.name}")
            mark_camera(builder, site, float(np.deg2rad(camera.fovy[0])))
