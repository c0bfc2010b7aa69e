"""Limits of joints that push as their stiffness and damping say, in MuJoCo's own terms."""

from __future__ import annotations

from typing import Any

import mujoco as _mujoco
import newton
import numpy as np

__all__ = ["limit_springs"]

_MUJOCO: Any = _mujoco
"""MuJoCo; most of it is an extension without type stubs."""


def limit_springs(
    solver: newton.solvers.SolverMuJoCo, solref: np.ndarray, solimp: np.ndarray, inverse_mass: np.ndarray, dt: float
) -> None:
    """Write the spring of each limit whose stiffness and damping are Newton's, not a file's own `solreflimit`.

    Newton's conversion is exact for a joint that rests on its limit, and 20 times too soft for one that moves: MuJoCo
    adds a part of the free acceleration, 1 - d, which only a small impedance d makes small in motion, too. The
    impedance is that of the implicit step of a spring: stable for each stiffness, and exact for small steps.

    Args:
        solver: Newton's conversion of the model.
        solref: Gets stiffness and damping, shape [world_count, joints, 2].
        solimp: Gets the impedance, shape [world_count, joints, 5].
        inverse_mass: `dof_invweight0`, shape [world_count, DOFs].
        dt: Length of a step [s].
    """
    model, mj_model = solver.model, solver.mj_model
    mapping: Any = solver.mjc_jnt_to_newton_dof
    if mapping is None or not mapping.size:
        return
    dofs = mapping.numpy()[: len(solref)]
    world, joint = np.nonzero((dofs >= 0) & _is_newtons(model)[dofs])
    ke, kd = (getattr(model, name).numpy()[dofs[world, joint]].astype(float) for name in _GAINS)
    rate = inverse_mass[world, mj_model.jnt_dofadr[joint]]
    if mj_model.opt.integrator == _MUJOCO.mjtIntegrator.mjINT_DISCRETE:
        dt = 0.0  # its step is implicit in itself
    # A spring that the step resolves, (ω dt)² < 2, acts at the start of the step, and half of the damping at its end.
    # What the step does not resolve acts at its end, just so much that a joint never leaves faster than it came.
    stretch, decay = np.maximum(dt * dt * ke * rate, 2.0), np.maximum(dt * kd * rate, 1.0)
    lasting = dt * ke * (1.0 - 2.0 / stretch)
    implicit = dt * (np.maximum(0.5, 1.0 - 1.0 / decay) * kd + lasting) * rate
    share = 1.0 / (1.0 + implicit)
    solref[world, joint] = np.stack([-ke * rate * share, -(kd + lasting) * rate * share], axis=-1)
    impedance = np.clip(implicit * share, 1e-4, 0.9999)  # MuJoCo's bounds
    solimp[world, joint, 0] = solimp[world, joint, 1] = impedance


_GAINS = ("joint_limit_ke", "joint_limit_kd")


def _is_newtons(model: newton.Model) -> np.ndarray:
    """Tell for each DOF whether stiffness and damping of its limit are Newton's."""
    mode: Any = getattr(getattr(model, "mujoco", None), "solreflimit_mode", None)
    return np.full(model.joint_dof_count, fill_value=True) if mode is None else mode.numpy() == 0
