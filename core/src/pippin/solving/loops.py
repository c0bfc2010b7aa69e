"""Joints that close loops, as equality constraints of MuJoCo."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import newton
import numpy as np
import warp as wp
from mujoco import mjtEq  # pyright: ignore[reportAttributeAccessIssue] (an extension without stubs)

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
        self._solver: Any = solver
        if self._joint_of_row is not None:
            self.write()
            self._solver.mj_model.eq_data[:] = self._solver.mjw_model.eq_data.numpy()[0]

    def write(self) -> None:
        """Write the frames of the model into the constraints of all worlds; a graph may hold it."""
        rows, own = self._joint_of_row, self._solver
        if rows is None:
            return
        model, mujoco = own.model, own.mjw_model
        inputs = [rows, self._is_weld, model.joint_X_p, model.joint_X_c]
        wp.launch(write_loop_frames, dim=rows.shape, inputs=inputs, outputs=[mujoco.eq_data], device=model.device)

    @cached_property
    def _is_weld(self) -> Any:
        is_weld = self._solver.mj_model.eq_type == int(mjtEq.mjEQ_WELD)
        return wp.array(is_weld, dtype=wp.bool, device=self._solver.model.device)

    @cached_property
    def _joint_of_row(self) -> Any:
        """The joint of each constraint in each world, shape [worlds, constraints], or -1; None without such a joint."""
        own = self._solver
        if own.mjc_eq_to_newton_jnt is None or not own.mjc_eq_to_newton_jnt.size:
            return None
        rows = own.mjc_eq_to_newton_jnt.numpy().copy()
        self._add_welds(rows)
        return wp.array(rows, dtype=int, device=own.model.device) if (rows >= 0).any() else None

    def _add_welds(self, rows: np.ndarray) -> None:
        """Fill in the fixed joints, which Newton's own mapping leaves out; their two bodies tell them."""
        own, model = self._solver, self._solver.model
        is_loop = (model.joint_articulation.numpy() < 0) & (model.joint_type.numpy() == int(newton.JointType.FIXED))
        bodies = zip(model.joint_parent.numpy()[is_loop], model.joint_child.numpy()[is_loop], strict=True)
        joints = dict(zip(bodies, np.flatnonzero(is_loop), strict=True))
        if not joints:
            return
        is_stated = own.mjc_eq_to_newton_eq.numpy() >= 0
        body_of = own.mjc_body_to_newton.numpy()
        pairs = own.mj_model.eq_obj1id, own.mj_model.eq_obj2id
        for world, row in zip(*np.nonzero((rows < 0) & ~is_stated), strict=True):
            if self._is_weld.numpy()[row]:
                rows[world, row] = joints.get(tuple(body_of[world, pair[row]] for pair in pairs), -1)
