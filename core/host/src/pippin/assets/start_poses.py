"""Poses of bodies in a builder, from its joints: importers set positions of joints and leave the bodies behind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import JointType

_OF_AXES = (JointType.REVOLUTE, JointType.PRISMATIC, JointType.D6)


def start_poses(builder: newton.ModelBuilder) -> list[Any]:
    """Return the poses that the positions of its joints give the bodies of a builder, each a `wp.transform`.

    They are those of `newton.eval_fk`. Bodies without a joint have the builder's pose, and so have those on joints that
    close a loop and on the joints of rods.
    """
    poses: list[Any] = [wp.transform(*pose) for pose in builder.body_q]
    for joint, child in enumerate(builder.joint_child):
        moved = _moved(builder, joint)
        if moved is not None and builder.joint_articulation[joint] >= 0:
            behind: Any = wp.transform(*builder.joint_X_c[joint])
            poses[child] = parent_frame(builder, joint, poses) * moved * wp.transform_inverse(behind)
    return poses


def parent_frame(builder: newton.ModelBuilder, joint: int, poses: Sequence[Any]) -> Any:
    """Return the frame of a joint on its parent in the world, a `wp.transform`, with the poses of all bodies."""
    parent, frame = builder.joint_parent[joint], wp.transform(*builder.joint_X_p[joint])
    return frame if parent < 0 else poses[parent] * frame


def _moved(builder: newton.ModelBuilder, joint: int) -> Any:
    """Return the pose of a joint's frame on its child in that on its parent; None for joints that are not read."""
    kind, at, dof = builder.joint_type[joint], builder.joint_q_start[joint], builder.joint_qd_start[joint]
    if kind == JointType.FIXED:
        return wp.transform()
    if kind in (JointType.FREE, JointType.DISTANCE):
        return wp.transform(*map(float, builder.joint_q[at : at + 7]))
    if kind == JointType.BALL:
        return wp.transform(wp.vec3(), wp.quat(*map(float, builder.joint_q[at : at + 4])))
    if kind not in _OF_AXES:
        return None
    linear, angular = builder.joint_dof_dim[joint]
    place: Any = wp.vec3()
    turn: Any = wp.quat_identity()
    for index in range(linear + angular):
        axis: Any = wp.vec3(*map(float, builder.joint_axis[dof + index]))
        value = float(builder.joint_q[at + index])
        if index < linear:
            place += axis * value
        else:
            turn = turn * wp.quat_from_axis_angle(axis, value)
    return wp.transform(place, turn)


def start_where_placed(builder: newton.ModelBuilder) -> Iterator[str]:
    """Start hinges and sliders where the bodies of a builder are, and yield the joints that pull bodies from there.

    Poses of a file are rounded: what is less than 1e-3 m or rad starts no joint.
    """
    poses: list[Any] = [wp.transform(*pose) for pose in builder.body_q]
    for joint, kind in enumerate(builder.joint_type):
        if kind not in (JointType.FIXED, *_OF_AXES[:2]):
            continue
        at, behind = builder.joint_q_start[joint], wp.transform(*builder.joint_X_c[joint])
        rest = wp.transform_inverse(parent_frame(builder, joint, poses)) * poses[builder.joint_child[joint]] * behind
        if kind != JointType.FIXED:
            axis, stated = np.array(builder.joint_axis[builder.joint_qd_start[joint]]), builder.joint_q[at]
            half = math.atan2(np.array(rest.q[:3]) @ axis, rest.q[3])
            value = math.remainder(2.0 * half, 2.0 * math.pi) if kind == JointType.REVOLUTE else np.array(rest.p) @ axis
            builder.joint_q[at] = float(value)
            rest = wp.transform_inverse(_moved(builder, joint)) * rest
            builder.joint_q[at] = stated or (float(value) if abs(value) > 1e-3 else 0.0)
        if np.linalg.norm(rest.p) > 5e-3 or np.linalg.norm(rest.q[:3]) > 5e-3:
            yield builder.joint_label[joint]
