"""The joints of a world, as the kernels need them: their indices in Newton's and in MuJoCo's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from .kernels import BALL, FREE, PLAIN, Joints

if TYPE_CHECKING:
    import newton

__all__ = ["TURNING", "by_world", "integers", "joints_of", "newton_bodies", "on_host", "reference_of"]

ALL = (int(PLAIN), int(BALL), int(FREE))
TURNING = (int(BALL), int(FREE))
"""Joints whose rotation is a quaternion."""


def joints_of(model: newton.Model, solver: newton.solvers.SolverMuJoCo, kinds: tuple[int, ...] = ALL) -> Any:
    """Return the `Joints` of a world, with copies of their anchors and of the centres of mass in every world.

    Args:
        model: Newton's model.
        solver: Newton's conversion of the model, which knows the order of MuJoCo's joints.
        kinds: The kinds of joints to return, such as those that turn a body in space.
    """
    types = by_world(model, model.joint_type)[0]
    count = len(types)
    # A joint that closes a loop is not a joint in MuJoCo, and has no coordinates there.
    moving = np.flatnonzero((on_host(solver.mj_q_start)[:count] >= 0) & np.isin(_kinds(types), kinds))
    kind = _kinds(types)[moving]
    child = by_world(model, model.joint_child)[0][moving]
    axes = by_world(model, model.joint_dof_dim)[0].sum(axis=1)[moving]
    bodies = newton_bodies(solver)

    joints: Any = Joints()
    joints.coordinate_count = model.joint_coord_count // model.world_count
    joints.dof_count = model.joint_dof_count // model.world_count
    joints.body_count = model.body_count // model.world_count
    joints.kind = integers(kind)
    joints.qd_count = integers(np.choose(kind, [axes, 3, 6]))
    starts = {"q": model.joint_q_start, "qd": model.joint_qd_start}
    starts |= {"qpos": solver.mj_q_start, "qvel": solver.mj_qd_start}
    for name, start in starts.items():
        setattr(joints, name, integers(on_host(start)[:count][moving]))
    joints.newton_body = integers(child)
    joints.mujoco_body = integers([int((bodies == body).argmax()) for body in child])
    joints.parent = _doubles(by_world(model, model.joint_X_p)[:, moving], wp.transformd)
    joints.child = _doubles(by_world(model, model.joint_X_c)[:, moving], wp.transformd)
    joints.com = _doubles(by_world(model, model.body_com)[:, child], wp.vec3d)
    joints.reference = _doubles(reference_of(model), wp.float64)
    return joints


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


def _kinds(types: np.ndarray) -> np.ndarray:
    import newton

    return np.select(
        [types == newton.JointType.FREE, types == newton.JointType.BALL], [int(FREE), int(BALL)], int(PLAIN)
    )


def integers(values: Any) -> wp.array:
    """Return an array of 32-bit integers on the CPU."""
    return wp.array(np.asarray(values, dtype=np.int32), dtype=int, device="cpu")


def _doubles(values: np.ndarray, dtype: Any) -> wp.array:
    return wp.array(values.astype(float), dtype=dtype, device="cpu")


def on_host(array: Any) -> np.ndarray:
    """Return the memory of an array on the CPU that every finalized model, or its conversion, has.

    This solver is for the CPU alone, so it reads and writes in place. NumPy refuses arrays of another device.
    """
    assert array is not None, "a finalized model has what it counts"
    return np.asarray(array)
