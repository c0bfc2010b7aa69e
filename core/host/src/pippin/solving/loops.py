"""Joints that close loops, as equality constraints of MuJoCo."""

from __future__ import annotations

from typing import Any, cast

import newton
import numpy as np
import warp as wp
from mujoco import mjtEq

from .kernels import write_loop_frames


class LoopTies:
    """The frames of joints that close loops, in MuJoCo's constraints.

    MuJoCo computes the second frame of a constraint where all coordinates are zero. So does Newton's conversion, also
    for a joint outside of an articulation, which has a frame on both bodies: a loop that is open at zero would be
    another mechanism.

    Args:
        solver: Newton's solver; MuJoCo's model of one world, and that of all worlds, get the frames.
    """

    def __init__(self, solver: newton.solvers.SolverMuJoCo) -> None:
        own: Any = solver
        self._is_weld: Any = wp.array(
            own.mj_model.eq_type == int(mjtEq.mjEQ_WELD), dtype=wp.bool, device=own.model.device
        )
        self._joint_of_row = _joints_of_rows(own, self._is_weld.numpy())
        if self._joint_of_row is not None:
            self.write(solver)
            own.mj_model.eq_data[:] = own.mjw_model.eq_data.numpy()[0]

    def write(self, solver: newton.solvers.SolverMuJoCo) -> None:
        """Write the frames of the model into the constraints of all worlds; a graph may hold it.

        Args:
            solver: The solver of the constructor; it is not kept, as it may keep this.
        """
        rows, own = self._joint_of_row, cast(Any, solver)
        if rows is None:
            return
        model, mujoco = own.model, own.mjw_model
        inputs = [rows, self._is_weld, model.joint_X_p, model.joint_X_c]
        wp.launch(write_loop_frames, dim=rows.shape, inputs=inputs, outputs=[mujoco.eq_data], device=model.device)


def _joints_of_rows(own: Any, is_weld: np.ndarray) -> Any:
    """Return the joint of each constraint in each world, shape [worlds, constraints], or -1; None without a joint."""
    if own.mjc_eq_to_newton_jnt is None or not own.mjc_eq_to_newton_jnt.size:
        return None
    rows = own.mjc_eq_to_newton_jnt.numpy().copy()
    _add_welds(own, rows, is_weld)
    return wp.array(rows, dtype=int, device=own.model.device) if (rows >= 0).any() else None


def _add_welds(own: Any, rows: np.ndarray, is_weld: np.ndarray) -> None:
    """Fill in the fixed joints, which Newton's own mapping leaves out; their two bodies tell them."""
    model = own.model
    is_loop = (model.joint_articulation.numpy() < 0) & (model.joint_type.numpy() == int(newton.JointType.FIXED))
    bodies = zip(model.joint_parent.numpy()[is_loop], model.joint_child.numpy()[is_loop], strict=True)
    joints = dict(zip(bodies, np.flatnonzero(is_loop), strict=True))
    if not joints:
        return
    is_stated, body_of = own.mjc_eq_to_newton_eq.numpy() >= 0, own.mjc_body_to_newton.numpy()
    pairs = own.mj_model.eq_obj1id, own.mj_model.eq_obj2id
    for world, row in zip(*np.nonzero((rows < 0) & ~is_stated), strict=True):
        if is_weld[row]:
            rows[world, row] = joints.get(tuple(body_of[world, pair[row]] for pair in pairs), -1)
