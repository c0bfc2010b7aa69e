"""Limits of ball joints, which Newton's solvers leave out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import newton


def ball_limits(model: newton.Model, joints: Iterable[int]) -> dict[int, float]:
    """Return the largest angle of rotation [rad] of each limited ball joint, by its place in `joints`.

    The limit is the upper limit of the joint's DOFs; from π on, it has no effect.

    Args:
        model: The model.
        joints: Indices of joints of any type.
    """
    from newton import JointType

    own: Any = model
    kinds, starts, upper = own.joint_type.numpy(), own.joint_qd_start.numpy(), own.joint_limit_upper.numpy()
    balls = {place: joint for place, joint in enumerate(joints) if kinds[joint] == int(JointType.BALL)}
    limits = {place: float(upper[starts[joint]]) for place, joint in balls.items()}
    return {place: limit for place, limit in limits.items() if limit < math.pi}
