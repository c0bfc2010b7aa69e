"""Properties of MuJoCo's model that Newton's conversion leaves out, since MuJoCo Warp has no use for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mujoco as _mujoco
import newton
import numpy as np
from pippin.solving import LoopTies, complete_conversion

__all__ = ["compensating", "margins_of", "restore", "weigh_sliders"]

mujoco: Any = _mujoco
"""MuJoCo; most of it is an extension without type stubs."""

_ROUNDING = 1e-6
"""Relative size of what Newton's single precision leaves beside the diagonal of an inertia."""


_A_TRACE = 1e-30
"""Compensation of gravity that MuJoCo takes for some, and that compensates nothing."""


@contextmanager
def compensating(model: newton.Model) -> Iterator[None]:
    """Let MuJoCo's model, which is made in the `with` block, compensate gravity when a world later asks for it.

    MuJoCo counts the compensated bodies when it compiles a model, and leaves the computation out if there are none.
    """
    factors: Any = getattr(getattr(model, "mujoco", None), "gravcomp", None)
    if factors is None or factors.numpy().any():
        yield
        return
    values = factors.numpy().copy()
    factors.fill_(_A_TRACE)
    try:
        yield
    finally:
        factors.assign(values)


def restore(converted: newton.solvers.SolverMuJoCo) -> None:
    """Write limits of ball joints, inverse weights, margins and options of C into MuJoCo's model."""
    mj_model = converted.mj_model
    mj_model.body_gravcomp[mj_model.body_gravcomp < 2.0 * _A_TRACE] = 0.0  # a float32 is a bit more than the trace
    complete_conversion(converted)
    LoopTies(converted)
    if mj_model.ngeom:
        mj_model.geom_margin[:] = margins_of(converted)[0]
    if mj_model.opt.density or mj_model.opt.viscosity:
        _align(mj_model)


def _align(model: Any) -> None:
    """Take the axes of a body for its principal axes if they are some: a medium acts along them.

    Newton's conversion turns the axes of equal moments. MuJoCo's boxes for the midphase are in the old axes.
    """
    for body in range(1, model.nbody):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.body_iquat[body])
        matrix = turn.reshape(3, 3) * model.body_inertia[body] @ turn.reshape(3, 3).T
        if np.abs(matrix - np.diag(np.diag(matrix))).max() < _ROUNDING * matrix.max():
            model.body_inertia[body], model.body_iquat[body] = np.diag(matrix), (1.0, 0.0, 0.0, 0.0)
            model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)


def weigh_sliders(model: Any, sliders: Sequence[int]) -> None:
    """Write the inverse weights of bodies that only slide into MuJoCo's model."""
    for body in sliders:
        weight = 1.0 / model.body_mass[body]
        model.body_invweight0[body] = weight, 0.0
        model.dof_invweight0[model.dof_bodyid == body] = weight


def margins_of(converted: newton.solvers.SolverMuJoCo) -> np.ndarray:
    """Return the margins of the geoms [m], shape [world_count, geom_count].

    Newton sets them to zero for boxes and meshes, which MuJoCo Warp cannot test with a margin.
    """
    own: Any = converted
    shapes, margins = own.mjc_geom_to_newton_shape.numpy(), own.model.shape_margin.numpy()
    return np.where(shapes >= 0, margins[shapes], 0.0)
