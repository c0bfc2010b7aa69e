"""Inputs of a step: Newton's controls and forces, as MuJoCo's `ctrl`, `qfrc_applied` and `xfrc_applied`.

An actuator of MuJoCo is either the drive of a joint, which follows Newton's targets, or an actuator of the asset, which
follows `ctrl`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pippin
import warp as wp

from .joints import integers, newton_bodies, on_host, reference_of
from .kernels import write_efforts, write_wrenches
from .launching import host_views, launcher
from .plain import PlainJoints, as_index, dof_columns, shift_or_none

if TYPE_CHECKING:
    import newton
    from mujoco.batch import Batch

__all__ = ["Drives", "Inputs", "field"]


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
        self._world_count = model.world_count
        self._drives = Drives(model, solver, batch.bind("ctrl")) if batch.model.nu else None
        self._fields = [field(batch, name) for name in ("qpos", "qfrc_applied", "xfrc_applied")]
        self._qfrc: np.ndarray = batch.bind("qfrc_applied")
        self._view = host_views(model.world_count)
        bodies, xfrc = newton_bodies(solver), self._fields[2]
        body_count = model.body_count // model.world_count
        self._write_wrenches = launcher(write_wrenches, xfrc.shape, integers(bodies), body_count, xfrc)
        self._is_pushed = False

    def follow(self, turning: Any, plain: PlainJoints) -> None:
        """Set the joints whose efforts are written: joints that turn a body in space, and plain joints."""
        starts, counts = turning.qd.numpy(), turning.qd_count.numpy()
        self._turning = as_index(dof_columns(starts, counts))
        self._plain = plain
        self._write_efforts = launcher(write_efforts, self._world_count, turning, *self._fields)

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
            self._write_wrenches(body_f)
            self._write_efforts(body_f, control.joint_f)
            self._is_pushed = is_pushed
        self.write_plain(control)

    def write_plain(self, control: Any) -> None:
        """Write the inputs of plain joints and of actuators alone."""
        self._plain.write_efforts(self._view(control.joint_f), self._qfrc)
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


def field(batch: Batch, name: str) -> wp.array:
    """Return a field of MuJoCo's state in every world; the array shares MuJoCo's memory."""
    dtype = wp.spatial_vectord if name == "xfrc_applied" else wp.float64
    return wp.array(batch.bind(name), dtype=dtype, device="cpu", copy=False)
