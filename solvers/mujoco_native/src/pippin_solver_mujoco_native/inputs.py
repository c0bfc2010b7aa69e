"""Inputs of a step: Newton's controls and forces, as MuJoCo's `ctrl`, `qfrc_applied` and `xfrc_applied`.

An actuator of MuJoCo is either the drive of a joint, which follows Newton's targets, or an actuator of the asset, which
follows `ctrl`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import newton
import numpy as np
import pippin

from .columns import as_index, columns_of, host_views, shift_or_none
from .joints import by_world, moving_joints, newton_bodies, on_host, reference_of

if TYPE_CHECKING:
    from mujoco.batch import Batch
    from pippin.solving import JointMap

__all__ = ["Drives", "Inputs"]


class Inputs:
    """Writer of the inputs of every world into a batch.

    Args:
        model: Newton's model.
        solver: Newton's conversion of the model, which knows MuJoCo's bodies and actuators.
        batch: MuJoCo's worlds.

    Raises:
        ConfigError: A ball joint has a drive.
    """

    def __init__(self, model: newton.Model, solver: newton.solvers.SolverMuJoCo, batch: Batch) -> None:
        self._drives = Drives(model, solver, batch.bind("ctrl")) if batch.model.nu else None
        self._qpos, self._qfrc = (batch.bind(name) for name in ("qpos", "qfrc_applied"))
        self._xfrc: np.ndarray = batch.bind("xfrc_applied").reshape(model.world_count, -1, 6)
        self._view = host_views(model.world_count)
        bodies = newton_bodies(solver)
        pushed = np.flatnonzero(bodies >= 0)
        self._pushed, self._bodies = as_index(pushed), as_index(bodies[pushed])
        free, ball = (
            moving_joints(model, solver, int(kind)) for kind in (newton.JointType.FREE, newton.JointType.BALL)
        )
        starts, child = on_host(model.joint_qd_start), by_world(model, model.joint_child)[0]
        columns = columns_of(starts[free], 6)
        self._free, self._ball = as_index(columns), as_index(columns_of(on_host(solver.mj_qd_start)[ball], 3))
        self._free_bodies = as_index(np.array([(bodies == body).argmax() for body in child[free]], dtype=int))
        self._turning = as_index(np.sort(np.concatenate([columns, columns_of(starts[ball], 3)])))
        self._has_balls = bool(ball.size)
        self._is_pushed = False

    def follow(self, joints: JointMap) -> None:
        """Set the joints whose efforts are written."""
        self._joints = joints

    def write(self, body_f: Any, control: Any) -> None:
        """Write the inputs of the next step.

        Args:
            body_f: Wrenches on bodies [N, N·m].
            control: Newton's control.
        """
        efforts = self._view(control.joint_f)
        # Bodies are seldom pushed, and the test for zero takes only a fraction of the time.
        is_pushed = bool(self._view(body_f).any() or efforts[:, self._turning].any())
        if is_pushed or self._is_pushed:
            self._push(self._view(body_f), efforts, control)
            self._is_pushed = is_pushed
        self.write_plain(control)

    def _push(self, wrenches: np.ndarray, efforts: np.ndarray, control: Any) -> None:
        """Write wrenches on bodies and efforts of free joints, which both act at the centre of mass in axes of the
        world, and the efforts of ball joints.
        """
        worlds = len(wrenches)
        self._xfrc[:, self._pushed] = wrenches.reshape(worlds, -1, 6)[:, self._bodies]
        self._xfrc[:, self._free_bodies] += efforts[:, self._free].reshape(worlds, -1, 6)
        if self._has_balls:
            self._qfrc[:, self._ball] = self._joints.efforts(control, self._qpos)[:, self._ball]

    def write_plain(self, control: Any) -> None:
        """Write the inputs of plain joints and of actuators alone."""
        column, own = self._joints.plain_qd
        self._qfrc[:, column] = self._view(control.joint_f)[:, own]
        if self._drives is not None:
            self._drives.write(control, self._view)


class Drives:
    """MuJoCo's actuators: drives of joints, which follow Newton's targets, and the asset's, which follow `ctrl`.

    Args:
        model: Newton's model.
        solver: Newton's conversion of the model, which knows MuJoCo's actuators.
        ctrl: The inputs of the actuators, shape [worlds, actuators].

    Raises:
        ConfigError: A ball joint has a drive.
    """

    def __init__(self, model: newton.Model, solver: newton.solvers.SolverMuJoCo, ctrl: np.ndarray) -> None:
        if (on_host(solver.mjc_actuator_to_target_q_axis_idx) >= 0).any():
            raise pippin.ConfigError("type: 'mujoco-native' has no drives for ball joints; use 'mujoco'")
        is_drive = on_host(solver.mjc_actuator_ctrl_source) == solver.CtrlSource.JOINT_TARGET
        index, coordinate = (
            on_host(solver.mjc_actuator_to_newton_idx),
            on_host(solver.mjc_actuator_to_newton_target_q_idx),
        )
        is_position = is_drive & (index >= 0) & (coordinate >= 0)
        self._ctrl = ctrl
        self._position = _chosen(is_position, coordinate)
        # Newton encodes the DOF of a velocity drive as -(DOF + 2).
        self._velocity = _chosen(is_drive & (index <= -2), -(index + 2))
        self._direct = _chosen(~is_drive, index)
        self._shift = shift_or_none(reference_of(model)[:, index[is_position]])

    def write(self, control: Any, view: Callable[[Any], np.ndarray]) -> None:
        """Write the input of each actuator."""
        if self._position is not None:
            actuators, coordinates = self._position
            targets = view(control.joint_target_q)[:, coordinates]
            self._ctrl[:, actuators] = targets if self._shift is None else targets + self._shift
        if self._velocity is not None:
            actuators, dofs = self._velocity
            self._ctrl[:, actuators] = view(control.joint_target_qd)[:, dofs]
        if self._direct is not None:
            actuators, inputs = self._direct
            self._ctrl[:, actuators] = view(control.mujoco.ctrl)[:, inputs]


def _chosen(is_chosen: np.ndarray, sources: np.ndarray) -> tuple[Any, Any] | None:
    """Return the chosen actuators and the index of each one's input, or None if there are none."""
    actuators = np.flatnonzero(is_chosen)
    return (as_index(actuators), as_index(sources[actuators])) if len(actuators) else None
