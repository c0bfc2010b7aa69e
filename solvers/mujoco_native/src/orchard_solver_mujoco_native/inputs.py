"""What acts on the worlds in a step: Newton's controls and forces, as MuJoCo's `ctrl`, `qfrc_applied`, `xfrc_applied`.

Newton's wrenches on bodies, and on the bodies of free joints, act at the centre of mass and point along the axes of
the world; so do MuJoCo's, force first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import orchard

from .coordinates import Coordinates
from .layout import JointLayout, as_index

if TYPE_CHECKING:
    import newton
    from mujoco.batch import Batch

__all__ = ["Drives", "Inputs"]


class Inputs:
    """Writes the inputs of every world into a batch.

    Args:
        layout: The joints of a world.
        coordinates: The same joints, by kind.
        solver: Newton's conversion of the model, which knows MuJoCo's bodies and actuators.
        batch: MuJoCo's worlds.

    Raises:
        ConfigError: A ball joint has a drive.
    """

    def __init__(
        self, layout: JointLayout, coordinates: Coordinates, solver: newton.solvers.SolverMuJoCo, batch: Batch
    ) -> None:
        self._layout = layout
        self.coordinates = coordinates
        """The joints of a world, by kind; put anew where the model changed."""
        self._drives = Drives(layout, solver) if batch.model.nu else None
        self._ctrl: np.ndarray = batch.bind("ctrl")
        self._qfrc: np.ndarray = batch.bind("qfrc_applied")
        self._xfrc: np.ndarray = batch.bind("xfrc_applied")
        body_of = _host(solver.mjc_body_to_newton)[0]
        mujoco_bodies = np.flatnonzero(body_of >= 0)
        bodies = body_of[mujoco_bodies]
        self._bodies, self._mujoco_bodies = as_index(bodies), as_index(mujoco_bodies)
        of_body = np.zeros(layout.body_count, dtype=int)
        of_body[bodies] = mujoco_bodies
        self._free_bodies = of_body[layout.child[layout.free]]
        self._free_dofs = layout.qd[layout.free][:, None] + np.arange(6)
        self._is_pushed = False

    def write(self, body_f: Any, joint_q: Any, control: Any) -> None:
        """Write the inputs of the next step.

        Args:
            body_f: Wrenches on bodies [N, N·m].
            joint_q: Joint coordinates at the start of the step.
            control: Newton's control, or None.
        """
        by_world = self._layout.by_world
        if control is None:
            self._qfrc[:] = 0.0
            self._push(by_world(body_f), None)
            return
        efforts = by_world(control.joint_f)
        self._push(by_world(body_f), efforts[:, self._free_dofs])
        plain, ball = self.coordinates.plain, self.coordinates.ball
        self._qfrc[:, plain.qvel] = efforts[:, plain.qd]
        if ball is not None:
            ball.to_body(by_world(joint_q), efforts, self._qfrc)
        if self._drives is not None:
            self._drives.write(control, self._ctrl)

    def clear(self) -> None:
        """Take the wrenches on bodies off again."""
        if self._is_pushed:
            self._xfrc[:] = 0.0
            self._is_pushed = False

    def _push(self, forces: np.ndarray, wrenches: np.ndarray | None) -> None:
        """Put wrenches on bodies, and those of free joints on theirs; there are none yet, and seldom any to come."""
        has_wrenches = wrenches is not None and bool(wrenches.any())
        if has_wrenches or forces.any():
            self._xfrc[:, self._mujoco_bodies] = forces[:, self._bodies]
            self._is_pushed = True
        if has_wrenches:
            self._xfrc[:, self._free_bodies] += wrenches


class Drives:
    """MuJoCo's actuators: drives of joints, which follow Newton's targets, and the asset's own, which follow `ctrl`."""

    def __init__(self, layout: JointLayout, solver: newton.solvers.SolverMuJoCo) -> None:
        self._layout = layout
        source, index = _host(solver.mjc_actuator_ctrl_source), _host(solver.mjc_actuator_to_newton_idx)
        coordinate = _host(solver.mjc_actuator_to_newton_target_q_idx)
        if (_host(solver.mjc_actuator_to_target_q_axis_idx) >= 0).any():
            raise orchard.ConfigError("type: 'mujoco-native' has no drives for ball joints; use 'mujoco'")
        is_drive = source == solver.CtrlSource.JOINT_TARGET
        is_position = is_drive & (index >= 0) & (coordinate >= 0)
        self._position = _chosen(is_position, coordinate)
        # A drive that follows a velocity writes its DOF as -(DOF + 2).
        self._velocity = _chosen(is_drive & (index <= -2), -(index + 2))
        self._direct = _chosen(~is_drive, index)
        self._reference = layout.reference(solver.model)[:, index[is_position]]

    def write(self, control: Any, ctrl: np.ndarray) -> None:
        """Write the input of each actuator, shape [worlds, actuators]."""
        by_world = self._layout.by_world
        if self._position is not None:
            actuators, coordinates = self._position
            ctrl[:, actuators] = by_world(control.joint_target_q)[:, coordinates] + self._reference
        if self._velocity is not None:
            actuators, dofs = self._velocity
            ctrl[:, actuators] = by_world(control.joint_target_qd)[:, dofs]
        if self._direct is not None:
            actuators, inputs = self._direct
            ctrl[:, actuators] = by_world(control.mujoco.ctrl)[:, inputs]


def _chosen(is_chosen: np.ndarray, sources: np.ndarray) -> tuple[Any, Any] | None:
    """Return the chosen actuators and where each finds its input, or None where there are none."""
    actuators = np.flatnonzero(is_chosen)
    return (as_index(actuators), as_index(sources[actuators])) if len(actuators) else None


def _host(array: Any) -> np.ndarray:
    return array.numpy()
