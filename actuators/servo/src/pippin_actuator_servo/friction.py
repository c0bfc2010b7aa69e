"""The friction of servos, solved together for all joints of a robot."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from newton.actuators import JointSpaceResponse
from pippin import ConfigError
from pippin.actuation import Lanes
from pippin.arrays import on_host

from .friction_config import KEYS_OF_FRICTION, FrictionConfig
from .kernels import Coefficients, limit_friction, solve_friction

__all__ = ["Friction", "coefficients"]

_SWEEPS = 16

_SMALLEST = float(np.finfo(np.float32).tiny)
"""The smallest positive speed, in single precision."""


def coefficients(config: FrictionConfig, lanes: Lanes) -> Any:
    """Return the coefficients of every formula: those of `kl` and `kls` count for both torques, others are zero."""
    found = Coefficients()
    zeros = wp.zeros(lanes.dofs.size, dtype=float, device=lanes.device)
    arrays = dict.fromkeys(("kc", "kv", "kcs", "km", "ke", "kms", "kes", "kmq", "keq"), zeros)
    arrays |= dict.fromkeys(("vs", "alpha"), wp.full_like(zeros, 1.0))
    for name in KEYS_OF_FRICTION[config.type or "m1"]:
        array = lanes.per_lane(getattr(config, name), name, minimum=_SMALLEST if name == "vs" else 0.0)
        arrays |= dict.fromkeys({"kl": ("km", "ke"), "kls": ("kms", "kes")}.get(name, (name,)), array)
    for name, array in arrays.items():
        setattr(found, name, array)
    return found


class Friction:
    """Efforts that stop the joints within their budgets: with all of them, a joint stands still or slides.

    The velocity at the end of the step that it works against has the efforts of all actuators, gravity and Coriolis
    forces, by Newton's mass matrix with armature. Contacts, springs and limits of joints are not in it.

    Args:
        model: The model.
        lanes: The joints.
        config: The formula and its numbers.

    Raises:
        ConfigError: A joint is in no articulation.
    """

    def __init__(self, model: newton.Model, lanes: Lanes, config: FrictionConfig) -> None:
        self._model, self._device = model, lanes.device
        self._dofs = wp.array(lanes.dofs.ravel(), dtype=int, device=lanes.device)
        lane_of_dof = np.full(model.joint_dof_count, -1)
        lane_of_dof[lanes.dofs.ravel()] = np.arange(lanes.dofs.size)
        starts, ends = _articulations(model, lanes)
        #: Indices of the articulations with these joints.
        self.robots: np.ndarray = np.unique(np.searchsorted(starts, lanes.dofs, side="right") - 1)
        self._lane_of_dof, self._starts, self._ends = (
            wp.array(each, dtype=int, device=lanes.device) for each in (lane_of_dof, starts, ends)
        )
        self._response = JointSpaceResponse(model)
        self._gravity, self._coriolis, self._free = (
            wp.zeros(model.joint_dof_count, dtype=float, device=lanes.device) for _ in range(3)
        )
        self._coefficients = coefficients(config, lanes.within("friction"))
        #: Effort of the friction in the last physics step, and its budget [N·m], each of shape [len(worlds), DOFs].
        self.efforts, self.limits = (wp.zeros(lanes.dofs.shape, dtype=float, device=lanes.device) for _ in range(2))

    @property
    def has_armature(self) -> bool:
        """Whether any joint has armature. Reads the device."""
        return bool(on_host(self._model.joint_armature).any())

    def add(self, state: newton.State, control: newton.Control, motors: wp.array, dt: float) -> None:
        """Add the friction of one physics step to `control.joint_f`, which has the torques of the motors. May be
        recorded.
        """
        gravity, coriolis = self._gravity, self._coriolis
        newton.eval_inverse_dynamics_passive(self._model, state, gravity_force=gravity, coriolis_force=coriolis)
        self._response.refresh(state)
        inputs = [self._coefficients, self._dofs, state.joint_qd, motors.flatten(), control.joint_f, gravity, coriolis]
        wp.launch(limit_friction, len(self._dofs), inputs, [self.limits.flatten()], device=self._device)
        inputs = [_SWEEPS, self._starts, self._ends, self._lane_of_dof, self._response.inverse_blocks, state.joint_qd]
        inputs += [gravity, coriolis, self.limits.flatten(), dt]
        outputs = [self._free, self.efforts.flatten(), control.joint_f]
        wp.launch(solve_friction, len(self._starts), inputs, outputs, device=self._device)


def _articulations(model: newton.Model, lanes: Lanes) -> tuple[np.ndarray, np.ndarray]:
    """Return the first DOF of each articulation, and the one behind its last; refuse joints in none."""
    starts = on_host(model.joint_qd_start)
    joints = np.searchsorted(starts, lanes.dofs, side="right") - 1
    alone = np.argwhere(on_host(model.joint_articulation)[joints] < 0)
    if len(alone):
        raise ConfigError(
            f"friction: {lanes.labels[alone[0, 1]]!r} is in no articulation, so that its inertia is not known; make it"
            " part of a robot, or leave the friction to the solver"
        )
    count = model.articulation_count
    first, last = (on_host(each)[:count] for each in (model.articulation_start, model.articulation_end))
    return starts[first], starts[last]
