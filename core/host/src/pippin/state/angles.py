"""Angles of joints under solvers that move bodies: computed by inverse kinematics, and continuous beyond a turn."""

from __future__ import annotations

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present

from .kernels import unwrap_angles


class ContinuousAngles:
    """Inverse kinematics whose angles continue from the last ones, although Newton's lie within a turn.

    The last angles are those in the state, so a reset and a user's write start anew from what they write. An angle is
    the one nearest to what the velocities lead to; three angular axes of one joint continue from the last value only,
    because their velocities are unbounded near the singularity.
    """

    def __init__(self, model: newton.Model) -> None:
        self._model = model
        coordinates, dofs, has_rate = _angular_axes(model)
        self._count = len(coordinates)
        self._coordinates, self._dofs = (wp.array(each, dtype=int, device=model.device) for each in (coordinates, dofs))
        self._weights = wp.array(has_rate, dtype=float, device=model.device)
        if self._count:
            self._joint_q, self._joint_qd = (wp.zeros_like(present(each)) for each in (model.joint_q, model.joint_qd))

    def evaluate(self, state: newton.State, last: newton.State, dt: float) -> None:
        """Compute the joint coordinates of a state from its bodies. May be recorded, and differentiated.

        `last` has the last joint coordinates, of `dt` seconds before; it may be the same state.
        """
        joint_q, joint_qd = present(state.joint_q), present(state.joint_qd)
        before = [present(last.joint_q), present(last.joint_qd)]
        if self._count and last is state:
            wp.copy(self._joint_q, joint_q)
            wp.copy(self._joint_qd, joint_qd)
            before = [self._joint_q, self._joint_qd]
        newton.eval_ik(self._model, state, joint_q, joint_qd)
        inputs = [self._coordinates, self._dofs, self._weights, *before, joint_qd, dt]
        wp.launch(unwrap_angles, self._count, inputs, [joint_q], device=self._model.device)


def _angular_axes(model: newton.Model) -> tuple[list[int], list[int], list[bool]]:
    """Return coordinate and DOF of each axis of rotation that inverse kinematics computes, and whether to use its rate.

    A ball joint has a quaternion, which does not wrap.
    """
    kinds, trees = on_host(model.joint_type), on_host(model.joint_articulation)
    coordinates, dofs = on_host(model.joint_q_start), on_host(model.joint_qd_start)
    dims = on_host(model.joint_dof_dim)
    has_axes = np.isin(kinds, [int(newton.JointType.REVOLUTE), int(newton.JointType.D6)])
    found: list[tuple[int, int, bool]] = []
    for joint in np.flatnonzero(has_axes & (trees >= 0)).tolist():
        linear, angular = dims[joint].tolist()
        axes = range(linear, linear + angular)
        found += [(int(coordinates[joint]) + axis, int(dofs[joint]) + axis, angular < 3) for axis in axes]
    return [each[0] for each in found], [each[1] for each in found], [each[2] for each in found]
