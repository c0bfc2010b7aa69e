"""Properties of MuJoCo's model that Newton's conversion leaves out, since MuJoCo Warp has no use for them."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
from pippin.solving import ball_limits

__all__ = ["margins_of", "restore"]


def restore(converted: newton.solvers.SolverMuJoCo) -> None:
    """Write limits of ball joints, margins and the iterations against slip into MuJoCo's model."""
    model, mj_model = converted.model, converted.mj_model
    joints: Any = converted.mjc_jnt_to_newton_jnt
    if joints is not None and joints.size:
        for index, angle in ball_limits(model, joints.numpy()[0]).items():
            mj_model.jnt_limited[index] = 1
            mj_model.jnt_range[index] = (0.0, angle)
    if mj_model.ngeom:
        mj_model.geom_margin[:] = margins_of(converted)[0]
    options: Any = getattr(model, "pippin", None)
    if options is not None and hasattr(options, "noslip_iterations"):
        mj_model.opt.noslip_iterations = int(options.noslip_iterations.numpy()[0])


def margins_of(converted: newton.solvers.SolverMuJoCo) -> np.ndarray:
    """Return the margins of the geoms [m], shape [world_count, geom_count].

    Newton sets them to zero for boxes and meshes, which MuJoCo Warp cannot test with a margin.
    """
    own: Any = converted
    shapes, margins = own.mjc_geom_to_newton_shape.numpy(), own.model.shape_margin.numpy()
    return np.where(shapes >= 0, margins[shapes], 0.0)
