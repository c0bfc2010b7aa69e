"""Springs of joints that diverge, as a step is too long for them."""

from __future__ import annotations

import newton
import numpy as np
from pippin.solving import JointRows

from . import SemiImplicitConfig

__all__ = ["diverging_joint"]

_TURNING = 0.01
"""Newton's factor on the damping of angles."""

_STEPS = 1000
"""Number of steps in which what diverges has grown."""

_LARGEST = 1.0
"""Distance [m] or angle [rad] to which no joint opens by the weight that it carries."""

_MOST = 4096
"""Largest number of substeps for each one that is tried."""


def diverging_joint(model: newton.Model, config: SemiImplicitConfig, dt: float) -> tuple[str, int]:
    """Return the joint that diverges first, and by how much a substep has to be divided; an empty label if none does.

    What gravity does not open counts as held: a cart on a rail without weight stays there with any step.

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
    """Return the place of the joint that gravity opens most if it opens without end; -1 if none does."""
    damping = config.joint_attach_kd * np.repeat([1.0, _TURNING], 3)
    moved, speeds = np.zeros_like(joints.falls), np.zeros_like(joints.falls)
    for _ in range(_STEPS if len(joints.joints) else 0):
        gaps = joints.gaps(moved)
        if np.abs(gaps).max() > _LARGEST:
            return int(np.abs(gaps).max(axis=1).argmax())
        joints.push(speeds, -dt * (config.joint_attach_ke * gaps + damping * joints.gaps(speeds)))
        speeds += joints.falls * dt
        moved += dt * speeds
    return -1
