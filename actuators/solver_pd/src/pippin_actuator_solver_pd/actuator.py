"""The solver's own joint drives, as a Pippin actuator: the solver computes the effort within its step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import pippin
import warp as wp
from pippin import Binding
from pippin.actuation import JointActuator, Lanes

from . import SolverPDConfig
from .kernels import add_efforts, write_gains

__all__ = ["ActuatorSolverPD"]


class ActuatorSolverPD(JointActuator):
    """PD control by the model's own joint drives. The solver keeps the effort to itself, so none can be read here.

    Args:
        config: Gains and limits.
    """

    config: SolverPDConfig
    is_open_loop = True

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints, and give them drives that follow position and velocity, in place of the asset's."""
        super().extend_prototype(builder, prototype)
        axes = self.axes[prototype]
        for dof in axes.dofs(builder):
            builder.joint_target_mode[dof] = int(newton.JointTargetMode.POSITION_VELOCITY)
        fields = {"kp": "target_ke", "kd": "target_kd", "effort_limit": "effort_limit"}
        for field, attribute in (fields | {"velocity_limit": "velocity_limit"}).items():
            axes.assign(builder, f"joint_{attribute}", getattr(self.config, field), field)

    def build(self, binding: Binding, lanes: Lanes) -> Mapping[str, wp.array]:
        """Return the targets, and make the gains parameters."""
        model = binding.simulation.model
        self._simulation = binding.simulation
        self._kp = lanes.per_lane(self.config.kp, "kp", minimum=0.0)
        self._kd = lanes.per_lane(self.config.kd, "kd", minimum=0.0)
        self._of_model = (model.joint_target_ke, model.joint_target_kd)
        return super().build(binding, lanes)

    @pippin.hookimpl
    def bind(self, binding: Binding) -> None:
        """Allocate the arrays over the joints of all worlds, and draw random gains."""
        super().bind(binding)
        self._publish()

    @pippin.hookimpl
    def apply_actuators(self, control: newton.Control) -> None:
        """Write the targets to the solver's inputs, and add the feedforward to `control.joint_f`."""
        self.exchange_targets(control)
        inputs = [self.actuated_dofs, self.feedforward.flatten()]
        wp.launch(add_efforts, len(self.actuated_dofs), inputs, [control.joint_f], device=self.actuated_dofs.device)

    @pippin.hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Draw the gains of the masked worlds anew."""
        super().reset_worlds(world_mask)
        if {"kp", "kd"} & self.drawn_parameters:
            self.write_gains()
            self._simulation.services.notify_solver(newton.ModelFlags.JOINT_DOF_PROPERTIES, world_mask)

    def get(self, name: str) -> wp.array:
        """Return a copy of a parameter, shape [len(worlds), DOFs]. Change it by `set`, which notifies the solver.

        Raises:
            ConfigError: There is no such parameter.
        """
        return wp.clone(super().get(name))

    def set(self, name: str, values: Any, worlds: Any = None, joints: Any = None) -> None:
        """Set a parameter from the next step on, even if the step is recorded; see `DriveActuator.set`."""
        super().set(name, values, worlds, joints)
        if name in self.gains:
            self._publish()

    @property
    def computed_effort(self) -> wp.array:
        """Not available: raises `AttributeError`."""
        raise AttributeError(_no_effort("computed_effort"))

    @property
    def applied_effort(self) -> wp.array:
        """Not available: raises `AttributeError`."""
        raise AttributeError(_no_effort("applied_effort"))

    @property
    def shared_arrays(self) -> frozenset[str]:
        """Arrays of `control` and the model that users may set for the driven DOFs."""
        return frozenset({"joint_target_q", "joint_target_qd", "joint_effort_limit"})

    @property
    def gains(self) -> tuple[str, ...]:
        """The gains that a component may change in a step."""
        return ("kp", "kd")

    gain_changes = frozenset({"JOINT_DOF_PROPERTIES"})
    """Names in `newton.ModelFlags` of what `write_gains` changes in the model."""

    def write_gains(self) -> None:
        """Copy the gains into the model; the caller notifies the solver of `gain_changes`. May be recorded."""
        inputs = [self.actuated_dofs, self._kp, self._kd]
        wp.launch(write_gains, len(self.actuated_dofs), inputs, [*self._of_model], device=self._kp.device)

    def _publish(self) -> None:
        """Copy the gains into the model, and notify the solver before its next step."""
        self.write_gains()
        self._simulation.notify_model_changed(newton.ModelFlags.JOINT_DOF_PROPERTIES)


def _no_effort(name: str) -> str:
    return (
        f"{name}: the solver computes the effort of its own drives within its step and keeps it;"
        " read the solver's observable 'qfrc_actuator' if it has one (MuJoCo), or use type 'pd'"
    )
