"""Limits of ball joints in MuJoCo Warp; Newton's conversion leaves them out."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp
from pippin.solving import ball_limits

__all__ = ["limit_balls"]


def limit_balls(solver: newton.solvers.SolverMuJoCo) -> None:
    """Limit the ball joints of a new solver."""
    model: Any = solver.mjw_model
    mapping: Any = solver.mjc_jnt_to_newton_jnt
    limits = ball_limits(solver.model, mapping.numpy()[0]) if mapping is not None and mapping.size else {}
    if limits:
        for index, angle in limits.items():
            solver.mj_model.jnt_limited[index], solver.mj_model.jnt_range[index] = 1, (0.0, angle)
        model.jnt_limited_ball_adr = wp.array(sorted(limits), dtype=int, device=solver.model.device)
        ranges = model.jnt_range.numpy()
        ranges[:, list(limits)] = [(0.0, angle) for angle in limits.values()]
        model.jnt_range.assign(ranges)
