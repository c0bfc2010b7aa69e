"""The joints of a world in MuJoCo's order, and access to the arrays of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pippin.solving import EngineFrames, JointMap

if TYPE_CHECKING:
    import newton

__all__ = ["by_world", "joint_map", "moving_joints", "newton_bodies", "on_host", "reference_of"]

FRAMES = EngineFrames(quaternion="wxyz", pose="body", ball="body", point="origin", angular_axes="inner")
"""How MuJoCo writes free and ball joints."""


def joint_map(model: newton.Model, solver: newton.solvers.SolverMuJoCo) -> JointMap:
    """Return the joints in MuJoCo's order, with copies of their anchors and references in every world.

    Args:
        model: Newton's model.
        solver: Newton's conversion of the model, which knows the order of MuJoCo's joints.
    """
    return JointMap(model, FRAMES, moving_joints(model, solver).tolist(), reference_of(model))


def moving_joints(model: newton.Model, solver: newton.solvers.SolverMuJoCo, kind: int | None = None) -> np.ndarray:
    """Return the joints of a world, or those of a kind, in MuJoCo's order: one that closes a loop is no joint there."""
    types = by_world(model, model.joint_type)[0]
    starts = on_host(solver.mj_q_start)[: len(types)]
    chosen = np.flatnonzero((starts >= 0) & ((types == kind) | (kind is None)))
    return chosen[np.argsort(starts[chosen], kind="stable")]


def newton_bodies(solver: newton.solvers.SolverMuJoCo) -> np.ndarray:
    """Return Newton's body, counted within the world, of each body of MuJoCo; -1 if there is none."""
    return on_host(solver.mjc_body_to_newton)[0]


def reference_of(model: newton.Model) -> np.ndarray:
    """Return MuJoCo's coordinates for Newton's zero [m or rad], shape [world_count, DOFs]."""
    reference = getattr(getattr(model, "mujoco", None), "dof_ref", None)
    if reference is None:
        return np.zeros((model.world_count, model.joint_dof_count // model.world_count))
    return by_world(model, reference).astype(float)


def by_world(model: newton.Model, array: Any) -> np.ndarray:
    """Return a view with a first axis of worlds, shape [world_count, entries of a world, ...]."""
    values = on_host(array)
    return values.reshape(model.world_count, len(values) // model.world_count, *values.shape[1:])


def on_host(array: Any) -> np.ndarray:
    """Return the memory of an array on the CPU that every finalized model, or its conversion, has.

    This solver is for the CPU alone, so it reads and writes in place. NumPy refuses arrays of another device.
    """
    assert array is not None, "a finalized model has what it counts"
    return np.asarray(array)
