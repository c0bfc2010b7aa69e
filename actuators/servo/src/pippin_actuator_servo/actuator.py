"""A position servo, as a Pippin actuator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from pippin import Binding
from pippin.actuation import DriveActuator, Lanes

from . import ServoConfig, SupplyConfig
from .drive import ServoDrive
from .friction import Friction
from .kernels import Motors
from .library import complete

__all__ = ["ActuatorServo"]

_SMALLEST = float(np.finfo(np.float32).tiny)
"""The smallest positive number, in single precision."""


class ActuatorServo(DriveActuator):
    """Position servos of single-DOF joints, once per physics step.

    `computed_effort` and `applied_effort` are the motor's, before and after clampings; friction is added to them.

    Args:
        config: Numbers of the servos, or their model.
    """

    config: ServoConfig
    joint_properties = ("armature", "damping")
    unread_targets = dict.fromkeys(("velocity_targets", "feedforward"), "a servo follows `position_targets` alone")

    def __init__(self, config: ServoConfig) -> None:
        super().__init__(complete(config))

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints, and take dry and viscous friction of the asset away if the servos have their own."""
        super().extend_prototype(builder, prototype)
        if self.config.friction is None:
            return
        dofs = self.axes[prototype].dofs(builder)
        replaced = ("joint_friction", *(() if self.config.damping is not None else ("joint_damping",)))
        if any(getattr(builder, name)[dof] for name in replaced for dof in dofs):
            note = "friction: in place of the asset's friction and damping of these joints"
            self.notes = tuple(dict.fromkeys((*self.notes, note)))
        for name in replaced:
            for dof in dofs:
                getattr(builder, name)[dof] = 0.0

    def build_drive(self, lanes: Lanes) -> ServoDrive:
        """Return the motors under their firmware."""
        motors, config, supply = Motors(), self.config, lanes.within("supply")
        for name in ("kt", "resistance", "voltage"):
            setattr(motors, name, lanes.per_lane(getattr(config, name), name, minimum=_SMALLEST))
        motors.gain = lanes.per_lane(config.gain, "gain", minimum=0.0, missing=1.0)
        motors.kp = lanes.per_lane(config.kp, "kp", minimum=0.0)
        for name, default in {"max_duty": 1.0, "current_limit": np.inf, "target_speed": np.inf}.items():
            setattr(motors, name, lanes.per_lane(getattr(config, name), name, minimum=_SMALLEST, missing=default))
        given = config.supply or SupplyConfig(resistance=0.0, minimum=_SMALLEST)
        motors.supply_resistance = supply.per_lane(given.resistance, "resistance", minimum=0.0)
        motors.minimum = supply.per_lane(given.minimum, "minimum", minimum=_SMALLEST)
        motors.per_world, motors.sets_current = lanes.dofs.shape[1], config.mode == "current"
        if motors.sets_current:
            motors.damping_factor = lanes.per_lane(config.damping_factor, "damping_factor", minimum=0.0, missing=0.0)
        return ServoDrive(motors)

    def build(self, binding: Binding, lanes: Lanes) -> Mapping[str, wp.array]:
        """Build motors and friction; return the targets.

        Raises:
            ConfigError: A joint is in no articulation, or the solver leaves its armature out.
        """
        targets = super().build(binding, lanes)
        friction, host = self.config.friction, binding.simulation
        self._friction = None if friction is None else Friction(host.model, lanes, friction)
        if self._friction is not None:
            self._refuse_others(self._friction, host.actuators)
        fault = host.services.support.left_out("armature")
        if fault and self._friction is not None and self._friction.has_armature:
            raise pippin.ConfigError(f"friction: it is solved with the armature of the joints, but {fault}")
        return targets

    def _refuse_others(self, friction: Friction, groups: Mapping[str, Any]) -> None:
        """Refuse a second group with friction on a robot: each would take the joints of the other for free."""
        for label, other in groups.items():
            theirs = getattr(other, "_friction", None)
            if theirs is not friction and isinstance(theirs, Friction) and set(friction.robots) & set(theirs.robots):
                raise pippin.ConfigError(
                    f"friction: servos of {label!r} are on the same robot; put all of them into one group, with"
                    " tables by pattern where numbers differ"
                )

    @pippin.hookimpl(trylast=True)
    def apply_actuators(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Add the torques of the motors to `control.joint_f`, and the friction that they leave. May be recorded."""
        super().apply_actuators(state, control, dt)
        if self._friction is not None:
            self._friction.add(state, control, self.applied_effort, dt)

    @property
    def friction_effort(self) -> wp.array:
        """Effort of the friction in the last physics step [N·m], shape [len(worlds), DOFs]."""
        return self._found("friction_effort").efforts

    @property
    def friction_budget(self) -> wp.array:
        """Largest magnitude that the friction could have had in that step [N·m], shape [len(worlds), DOFs]."""
        return self._found("friction_budget").limits

    def _found(self, name: str) -> Friction:
        if self._friction is None:
            raise AttributeError(f"{name}: these servos have no friction; give friction, or a model")
        return self._friction

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return the friction, from which the next step starts."""
        return {} if self._friction is None else {"friction_effort": self._friction.efforts}
