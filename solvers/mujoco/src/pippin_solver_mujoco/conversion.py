"""Conversion of a model by Newton's `SolverMuJoCo`, with the limits of ball joints, which Newton leaves out."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp

__all__ = ["convert"]

_LARGEST_ANGLE = np.pi
"""Angle from which a limit of a ball joint has no effect [rad]."""


def convert(model: newton.Model, **options: Any) -> newton.solvers.SolverMuJoCo:
    """Return Newton's solver for a model. A finite upper limit of a ball joint's DOFs bounds its angle of rotation.

    Args:
        model: The model.
        options: Arguments of `newton.solvers.SolverMuJoCo`.
    """
    solver = newton.solvers.SolverMuJoCo(model, **options)
    limits = _ball_limits(model, solver)
    if limits:
        _limit(solver, limits)
    return solver


def _ball_limits(model: newton.Model, solver: newton.solvers.SolverMuJoCo) -> dict[int, float]:
    """Return the largest angle [rad] of each limited ball joint, by its index in MuJoCo."""
    mapping: Any = solver.mjc_jnt_to_newton_jnt
    if mapping is None or not mapping.size:
        return {}
    own: Any = model
    kinds, starts, upper = own.joint_type.numpy(), own.joint_qd_start.numpy(), own.joint_limit_upper.numpy()
    found = {}
    for index, joint in enumerate(mapping.numpy()[0]):
        if kinds[joint] == int(newton.JointType.BALL) and upper[starts[joint]] < _LARGEST_ANGLE:
            found[index] = float(upper[starts[joint]])
    return found


def _limit(solver: newton.solvers.SolverMuJoCo, limits: dict[int, float]) -> None:
    model: Any = solver.mj_model
    for index, angle in limits.items():
        model.jnt_limited[index] = 1
        model.jnt_range[index] = (0.0, angle)
    on_device: Any = solver.mjw_model
    device = solver.model.device
    on_device.jnt_limited_ball_adr = wp.array(sorted(limits), dtype=int, device=device)
    ranges = on_device.jnt_range.numpy()
    ranges[:, list(limits)] = [(0.0, angle) for angle in limits.values()]
    on_device.jnt_range.assign(ranges)
