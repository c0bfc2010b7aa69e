"""Joints that XPBD does not close within a substep: how far they give way under the weight that they carry."""

from __future__ import annotations

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.solving import JointRows

from . import XPBDConfig
from .steady import bound, joint_gains

__all__ = ["yielding_joint"]

_LEAST = 1e-4, 1e-3
"""Distance [m] and angle [rad] by which a joint gives way that is worth a note."""

_LARGEST = 10.0
"""Distance [m] or angle [rad] beyond which it does not count how far a joint gives way."""

_SECONDS = 0.3
"""Time within which most joints have given way [s]."""

_ITERATIONS = 2000
"""Number of iterations, of all substeps, after which joints that yield slowly are left."""


def yielding_joint(model: newton.Model, config: XPBDConfig, dt: float) -> tuple[str, float, float]:
    """Return the joint that gives way most, the distance [m] and the angle [rad]; an empty label if none does.

    Each substep adds what gravity moves a body, and its iterations take away a part. The rows are those of the start
    pose; what no joint holds, such as the base of a robot that floats, counts as held.

    Args:
        model: Newton's model; the joints of its first world are looked at.
        config: Options of the solver.
        dt: Length of a substep [s].
    """
    joints = JointRows.of(model, holds_bases=True)
    if not len(joints.joints):
        return "", 0.0, 0.0
    relaxations = np.array([config.joint_linear_relaxation, config.joint_angular_relaxation])
    compliances = np.array([config.joint_linear_compliance, config.joint_angular_compliance])
    parts = np.maximum(1.0, relaxations.max() * joint_gains(model) / bound(config.iterations))
    sizes = np.einsum("sj,sjrk->jr", parts[joints.bodies], np.square(joints.rows))
    held = 3 - on_host(model.joint_dof_dim)[joints.joints]
    weights = sizes.reshape(-1, 2, 3).sum(axis=2) / held.clip(1)  # on average, whatever the axes of the frame
    shares = np.repeat(relaxations / (weights + compliances / dt**2).clip(1e-12), 3, axis=1)
    moved, before = np.zeros_like(joints.falls), np.zeros_like(joints.falls)
    most = np.zeros((len(joints.joints), 2))
    for _ in range(min(round(_SECONDS / dt), max(_ITERATIONS // config.iterations, 20))):
        moved, before = 2.0 * moved - before + joints.falls * dt**2, moved
        for _ in range(config.iterations):
            joints.push(moved, -shares * joints.gaps(moved))
        most = np.maximum(most, np.linalg.norm(joints.gaps(moved).reshape(-1, 2, 3), axis=2))
        if most.max() > _LARGEST:
            break
    worst = int((most / _LEAST).max(axis=1).argmax())
    gap, turn = most[worst].tolist()
    return (model.joint_label[joints.joints[worst]], gap, turn) if (most[worst] > _LEAST).any() else ("", 0.0, 0.0)
