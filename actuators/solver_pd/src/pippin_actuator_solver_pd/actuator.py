"""The solver's own joint drives, as a Pippin actuator: the solver computes the effort within its step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from pippin import Binding, Host
from pippin.actuation import (
    JOINT_PROPERTIES,
    Axes,
    JointProperties,
    Parameters,
    SharedTargets,
    lanes_of,
    refuse_assignment,
    refuse_second_simulation,
)
from pippin.arrays import on_host

from . import SolverPDConfig
from .kernels import add_efforts, write_gains

__all__ = ["ActuatorSolverPD"]


class ActuatorSolverPD:
    """PD control by the model's own joint drives. The solver keeps the effort to itself, so none can be read here.

    Args:
        config: Gains and limits.
    """

    shared_arrays = frozenset({"joint_target_q", "joint_target_qd", "joint_effort_limit"})
    """Arrays of `control` and the model that users may set for the driven DOFs."""
    is_open_loop = True

    def __init__(self, config: SolverPDConfig) -> None:
        self.config = config
        self._axes: dict[int, Axes] = {}
        #: Joints that the patterns match but that have no axes, so that they are left out.
        self.notes: tuple[str, ...] = ()

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints, and give them drives that follow position and velocity, in place of the asset's."""
        refuse_second_simulation(self, is_bound=hasattr(self, "_lanes"))
        axes = self._axes[prototype] = Axes.select(builder, self.config)
        self.notes = axes.noted_after(self.notes)
        axes.switch_off_drives(builder)
        for dof in axes.dofs(builder):
            builder.joint_target_mode[dof] = int(newton.JointTargetMode.POSITION_VELOCITY)
        fields = {"kp": "target_ke", "kd": "target_kd", "effort_limit": "effort_limit"}
        for field, attribute in (fields | {"velocity_limit": "velocity_limit"}).items():
            axes.assign(builder, f"joint_{attribute}", getattr(self.config, field), field)

    @pippin.hookimpl
    def bind(self, simulation: Host, binding: Binding) -> None:
        """Allocate the arrays over the joints of all worlds, and draw random gains."""
        self._simulation, self._lanes = simulation, lanes_of(binding, self._axes)
        lanes = self._lanes
        self._kp = lanes.per_lane(self.config.kp, "kp", minimum=0.0)
        self._kd = lanes.per_lane(self.config.kd, "kd", minimum=0.0)
        self._of_model = (simulation.model.joint_target_ke, simulation.model.joint_target_kd)
        self._properties = JointProperties(self.config, lanes, simulation)
        self._parameters = Parameters(lanes, lanes.world_of_lane(), binding)
        self._dofs = wp.array(lanes.dofs.ravel(), dtype=int, device=lanes.device)
        initial = on_host(simulation.model.joint_q)[lanes.coordinates]
        self._position_targets = wp.array(initial, dtype=float, device=lanes.device)
        self._velocity_targets, self._feedforward = (wp.zeros_like(self._position_targets) for _ in range(2))
        own = (self._position_targets, self._velocity_targets)
        self._shared = SharedTargets(lanes.dofs, lanes.coordinates, *own, simulation.control)
        self._properties.publish(self._properties.random)
        self._publish()

    @pippin.hookimpl
    def apply_actuators(self, control: newton.Control) -> None:
        """Write the targets to the solver's inputs, and add the feedforward to `control.joint_f`."""
        self._shared.exchange(control)
        inputs = [self._dofs, self._feedforward.flatten()]
        wp.launch(add_efforts, self._dofs.size, inputs, [control.joint_f], device=self._lanes.device)

    @pippin.hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Draw the gains of the masked worlds anew."""
        if self._parameters.is_random:
            self._parameters.draw(world_mask)
            self._properties.publish(self._properties.random, world_mask)
            if {"kp", "kd"} & self._parameters.drawn:
                self.write_gains()
                self._simulation.services.notify_solver(newton.ModelFlags.JOINT_DOF_PROPERTIES, world_mask)

    @property
    def position_targets(self) -> wp.array:
        """Targets [m or rad], shape [len(worlds), DOFs], to be written in place; at first the initial positions."""
        return self._position_targets

    @position_targets.setter
    def position_targets(self, values: Any) -> None:
        refuse_assignment("position_targets")

    @property
    def velocity_targets(self) -> wp.array:
        """Targets [m/s or rad/s], shape [len(worlds), DOFs], to be written in place; at first zero."""
        return self._velocity_targets

    @velocity_targets.setter
    def velocity_targets(self, values: Any) -> None:
        refuse_assignment("velocity_targets")

    @property
    def feedforward(self) -> wp.array:
        """Effort added to the drive's, constant in a physics step [N or N·m], shape [len(worlds), DOFs]."""
        return self._feedforward

    @feedforward.setter
    def feedforward(self, values: Any) -> None:
        refuse_assignment("feedforward")

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names for `get` and `set`: `kp`, `kd`, `armature`, `friction` and `damping`."""
        return tuple(self._parameters)

    def get(self, name: str) -> wp.array:
        """Return a copy of a parameter, shape [len(worlds), DOFs]. Change it by `set`, which notifies the solver.

        Raises:
            ConfigError: There is no such parameter.
        """
        is_property = name in JOINT_PROPERTIES
        return self._properties.get(name) if is_property else wp.clone(self._parameters.get(name))

    def set(
        self,
        name: str,
        values: Any,
        worlds: Sequence[int] | None = None,
        joints: str | Sequence[str] | None = None,
    ) -> None:
        """Set a parameter from the next step on, even if the step is recorded; see `DriveActuator.set`."""
        if name in JOINT_PROPERTIES:
            self._properties.set(self._parameters, name, values, worlds, joints)
        else:
            self._parameters.set(name, values, worlds, joints)
            self._publish()

    @property
    def worlds(self) -> np.ndarray:
        """The worlds that have the driven joints, ascending, as on the arrays' first axis."""
        return self._lanes.worlds

    @property
    def joint_labels(self) -> tuple[str, ...]:
        """Labels of the driven axes of the first world along the arrays' second axis."""
        return self._lanes.labels

    @property
    def actuated_dofs(self) -> wp.array:
        """DOFs that this actuator drives, shape [len(worlds) × DOFs]."""
        return self._dofs

    @property
    def computed_effort(self) -> wp.array:
        """Not available: raises `AttributeError`."""
        raise AttributeError(_no_effort("computed_effort"))

    @property
    def applied_effort(self) -> wp.array:
        """Not available: raises `AttributeError`."""
        raise AttributeError(_no_effort("applied_effort"))

    gains = ("kp", "kd")
    """The gains that a component may change in a step."""

    gain_changes = frozenset({"JOINT_DOF_PROPERTIES"})
    """Names in `newton.ModelFlags` of what `write_gains` changes in the model."""

    @property
    def drawn_parameters(self) -> frozenset[str]:
        """The parameters that the file draws at random when a world is reset."""
        return self._parameters.drawn

    def gain(self, name: str) -> wp.array:
        """Return the memory of a gain, shape [len(worlds), DOFs]: write into it, and then call `write_gains`."""
        return self._parameters.get(name)

    def write_gains(self) -> None:
        """Copy the gains into the model; whoever calls it tells the solver of `gain_changes`. May be recorded."""
        inputs = [self._dofs, self._kp, self._kd]
        wp.launch(write_gains, self._dofs.size, inputs, [*self._of_model], device=self._lanes.device)

    def _publish(self) -> None:
        """Copy the gains into the model, and notify the solver before its next step."""
        self.write_gains()
        self._simulation.notify_model_changed(newton.ModelFlags.JOINT_DOF_PROPERTIES)


def _no_effort(name: str) -> str:
    return (
        f"{name}: the solver computes the effort of its own drives within its step and keeps it;"
        " read the solver's observable 'qfrc_actuator' if it has one (MuJoCo), or use type 'pd'"
    )
