"""Springs of joints that diverge, as a step is too long for them."""

from __future__ import annotations

import newton
import numpy as np
from pippin.solving import JointRows

from . import SemiImplicitConfig

__all__ = ["diverging_joint"]

_TURNING = 0.01
"""Newton's factor on the damping of angles."""

_STEPS = 300
"""Number of steps in which what diverges has grown."""

_GROWTH = 100.0
"""Growth of energy beyond rounding, and beyond the beat of several joints."""

_MOST = 4096
"""Largest number of substeps for each one that is tried."""


def diverging_joint(model: newton.Model, config: SemiImplicitConfig, dt: float) -> tuple[str, int]:
    """Return the joint that diverges first, and by how much a substep has to be divided; an empty label if none does.

    Args:
        model: Newton's model; the joints of its first world are looked at, at the start pose.
        config: Options of the solver.
        dt: Length of a substep [s].
    """
    joints = JointRows.of(model)
    worst, parts = _divergence(joints, config, dt), 1
    if worst < 0:
        return "", 1
    while parts < _MOST and _divergence(joints, config, dt / parts) >= 0:
        parts *= 2
    return model.joint_label[joints.joints[worst]], parts


def _divergence(joints: JointRows, config: SemiImplicitConfig, dt: float) -> int:
    """Return the place of the joint that opens most if random velocities grow; -1 if they do not."""
    if not len(joints.joints):
        return -1
    damping = config.joint_attach_kd * np.repeat([1.0, _TURNING], 3)
    speeds = np.random.default_rng(0).normal(size=joints.falls.shape)
    moved, start = np.zeros_like(speeds), np.square(speeds).sum()
    for _ in range(_STEPS):
        joints.push(speeds, -dt * (config.joint_attach_ke * joints.gaps(moved) + damping * joints.gaps(speeds)))
        moved += dt * speeds
        if np.square(speeds).sum() > _GROWTH * start:
            return int(np.abs(joints.gaps(speeds)).max(axis=1).argmax())
    return -1
