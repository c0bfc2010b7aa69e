"""What acts on the worlds in a step: Newton's controls and forces, as MuJoCo's `ctrl`, `qfrc_applied`, `xfrc_applied`.

An actuator of MuJoCo is the drive of a joint, which follows Newton's targets, or the asset's own, which follows `ctrl`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import orchard
import warp as wp

from .joints import integers, newton_bodies, on_host, reference_of
from .kernels import DIRECT, POSITION, VELOCITY, Drives, write_inputs, write_wrenches
from .launching import host_views, launcher

if TYPE_CHECKING:
    import newton
    from mujoco.batch import Batch

__all__ = ["Inputs", "drives_of", "field"]


class Inputs:
    """Writes the inputs of every world into a batch.

    Args:
        model: Newton's model.
        joints: The joints of a world.
        solver: Newton's conversion of the model, which knows MuJoCo's bodies and actuators.
        batch: MuJoCo's worlds.

    Raises:
        ConfigError: A ball joint has a drive.
    """

    def __init__(self, model: newton.Model, joints: Any, solver: newton.solvers.SolverMuJoCo, batch: Batch) -> None:
        names = ("qpos", "qfrc_applied", "xfrc_applied", "ctrl")
        self._drives = drives_of(model, solver)
        self._fields = [field(batch, name) for name in names]
        self._unused = wp.zeros(1, dtype=float, device="cpu")
        self._view = host_views()
        bodies, xfrc = newton_bodies(solver), self._fields[2]
        self._write_wrenches = launcher(write_wrenches, xfrc.shape, integers(bodies), joints.body_count, xfrc)
        self._is_pushed = False
        self.follow(joints)

    def follow(self, joints: Any) -> None:
        """Go on with other anchors and centres of mass."""
        self._write_inputs = launcher(write_inputs, self._fields[0].shape[0], joints, self._drives, *self._fields)

    def write(self, body_f: Any, control: Any) -> None:
        """Write the inputs of the next step.

        Args:
            body_f: Wrenches on bodies [N, N·m].
            control: Newton's control.
        """
        # Bodies are seldom pushed, and to see that they are not takes a quarter of the time.
        is_pushed = bool(self._view(body_f).any())
        if is_pushed or self._is_pushed:
            self._write_wrenches(body_f)
            self._is_pushed = is_pushed
        direct = getattr(getattr(control, "mujoco", None), "ctrl", None)
        self._write_inputs(
            body_f,
            control.joint_f,
            control.joint_target_q,
            control.joint_target_qd,
            self._unused if direct is None else direct,
        )


def drives_of(model: newton.Model, solver: newton.solvers.SolverMuJoCo) -> Any:
    """Return `Drives`: those of joints, which follow Newton's targets, and the asset's own, which follow `ctrl`.

    Raises:
        ConfigError: A ball joint has a drive.
    """
    drives = Drives()
    if not solver.mj_model.nu:
        return drives
    if (on_host(solver.mjc_actuator_to_target_q_axis_idx) >= 0).any():
        raise orchard.ConfigError("type: 'mujoco-native' has no drives for ball joints; use 'mujoco'")
    is_drive = on_host(solver.mjc_actuator_ctrl_source) == solver.CtrlSource.JOINT_TARGET
    index, coordinate = on_host(solver.mjc_actuator_to_newton_idx), on_host(solver.mjc_actuator_to_newton_target_q_idx)
    is_position = is_drive & (index >= 0) & (coordinate >= 0)
    # A drive that follows a velocity writes its DOF as -(DOF + 2).
    is_velocity = is_drive & (index <= -2)
    chosen = np.flatnonzero(is_position | is_velocity | ~is_drive)
    source = np.select([is_position, is_velocity], [int(POSITION), int(VELOCITY)], int(DIRECT))
    sources = np.select([is_position, is_velocity], [coordinate, -(index + 2)], index)
    reference = np.where(is_position, reference_of(model)[:, np.where(is_position, index, 0)], 0.0)
    drives.actuator, drives.source, drives.index = (
        integers(values) for values in (chosen, source[chosen], sources[chosen])
    )
    drives.reference = wp.array(reference[:, chosen], dtype=wp.float64, device="cpu")
    return drives


def field(batch: Batch, name: str) -> wp.array:
    """Return a field of MuJoCo's state in every world; the array shares MuJoCo's memory."""
    dtype = wp.spatial_vectord if name == "xfrc_applied" else wp.float64
    return wp.array(batch.bind(name), dtype=dtype, device="cpu", copy=False)
