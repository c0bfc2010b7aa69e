"""Springs of joints that diverge, as a step is too long for them."""

from __future__ import annotations

from collections.abc import Sequence

import newton
import numpy as np
from pippin.arrays import on_host
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
    held, free = JointRows.of(model), JointRows.of(model, is_free=True)
    if not len(held.joints):
        return "", 1
    springs = [
        (held, np.full(6, config.joint_attach_ke), config.joint_attach_kd * np.repeat([1.0, _TURNING], 3)),
        (free, *_laws(model, held.joints)),
    ]
    worst, parts = _divergence(springs, dt), 1
    if worst < 0:
        return "", 1
    while parts < _MOST and _divergence(springs, dt / parts) >= 0:
        parts *= 2
    return model.joint_label[held.joints[worst]], parts


def _laws(model: newton.Model, joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest stiffness and damping of what joints leave free, shape [joints, 6] each."""
    starts, dims = on_host(model.joint_qd_start), on_host(model.joint_dof_dim)
    laws = []
    for names in (("stiffness", "target_ke"), ("damping", "target_kd")):
        given = np.sum([on_host(getattr(model, f"joint_{name}")) for name in names], axis=0)
        most = np.zeros((len(joints), 6))
        for place, joint in enumerate(joints):
            first, linear = starts[joint], starts[joint] + dims[joint, 0]
            most[place, :3] = given[first:linear].max(initial=0.0)
            most[place, 3:] = given[linear : linear + dims[joint, 1]].max(initial=0.0)
        laws.append(most)
    return laws[0], laws[1]


def _divergence(springs: Sequence[tuple[JointRows, np.ndarray, np.ndarray]], dt: float) -> int:
    """Return the place of the joint that opens most if random velocities grow; -1 if they do not.

    Args:
        springs: Rows, and their stiffness and damping; those of what joints hold come first.
        dt: Length of a step [s].
    """
    held = springs[0][0]
    speeds = np.random.default_rng(0).normal(size=held.falls.shape)
    moved, start = np.zeros_like(speeds), np.square(speeds).sum()
    for _ in range(_STEPS):
        before = speeds.copy()
        for rows, stiffness, damping in springs:
            rows.push(speeds, -dt * (stiffness * rows.gaps(moved) + damping * rows.gaps(before)))
        moved += dt * speeds
        if np.square(speeds).sum() > _GROWTH * start:
            return int(np.abs(held.gaps(speeds)).max(axis=1).argmax())
    return -1
