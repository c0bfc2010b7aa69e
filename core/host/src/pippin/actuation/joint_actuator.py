"""Actuators of joints: their choice, their targets, and their parameters by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.binding import Binding, Host, refuse_closed
from pippin.errors import ConfigError
from pippin.frozen_attributes import FrozenAttributes
from pippin.hookspecs import hookimpl
from pippin.state.shaped_array import ShapedArray

from .config import JointConfig
from .joints import Axes
from .kernels import exchange_targets, write_lanes
from .parameters import Lanes, Parameters

JOINT_PROPERTIES = ("armature", "friction", "damping")
"""Properties of joints that a group may give, by their names in its table."""

_FEATURES = {"armature": "armature", "friction": "joint_friction", "damping": "joint_damping"}

FEATURES_OF_KEYS = {**_FEATURES, "velocity_limit": "velocity_limits"}
"""Features that keys of a group ask of the solver."""


class JointProperties:
    """The properties of the driven joints in the model, as parameters of a group."""

    def __init__(self, config: JointConfig, names: Sequence[str], lanes: Lanes, host: Host) -> None:
        self._host, self._lanes = host, lanes
        self._dofs = wp.array(lanes.dofs.ravel(), dtype=int, device=lanes.device)
        self._values: dict[str, wp.array] = {name: self._array(config, name) for name in names}
        #: Properties that are drawn when a world is reset.
        self.random: tuple[str, ...] = tuple(name for name in names if lanes.parameters[name].is_random)
        # A reset in a step writes them, so they are among the arrays of the actuator that the host saves.
        self._of_model = {name: getattr(host.model, f"joint_{name}") for name in self.random}

    def _array(self, config: JointConfig, name: str) -> wp.array:
        value = getattr(config, name)
        if value is not None:
            return self._lanes.per_lane(value, name, minimum=0.0)
        return self._lanes.own(self._present(name), name, minimum=0.0)

    def get(self, name: str) -> wp.array:
        """Return a copy of a property as the solver has it, shape [len(worlds), DOFs]. Reads the device."""
        return wp.array(self._present(name), dtype=float, device=self._lanes.device)

    def set(self, parameters: Parameters, name: str, *arguments: Any) -> None:
        """Set a property by the group's parameters, in the model too; the solver is notified before its next step.

        Raises:
            ConfigError: The solver does not honour the property or the values, accepted or not; or as `Parameters.set`.
        """
        support, feature = self._host.services.support, _FEATURES[name]
        if fault := support.left_out(feature) or support.change_fault(feature, f"joint_{name}"):
            raise ConfigError(f"{name}: {fault}")
        before = self._present(name)
        self._values[name].assign(before.ravel())  # a view may have set it
        parameters.set(name, *arguments)
        try:
            self._refuse_held(name, before, self._values[name].numpy().reshape(before.shape))
            self.publish([name])
        except ConfigError:
            self._values[name].assign(before.ravel())
            raise

    def publish(self, names: Sequence[str], world_mask: wp.array | None = None) -> None:
        """Copy properties into the model, and notify the solver: before its next step, or at once in a reset.

        A reset has a mask of the worlds that changed them, shape [world_count + 1].
        """
        kinds = newton.ModelFlags
        for name in names:
            is_inertial = name == "armature"
            flag = kinds.JOINT_DOF_INERTIAL_PROPERTIES if is_inertial else kinds.JOINT_DOF_FORCE_PROPERTIES
            if world_mask is None:  # this comes first: if the solver does not apply the change, nothing is written
                self._host.notify_model_changed(flag)
            inputs = [self._dofs, self._values[name], getattr(self._host.model, f"joint_{name}")]
            wp.launch(write_lanes, self._dofs.size, inputs, device=self._lanes.device)
            if world_mask is not None:
                self._host.services.notify_solver(flag, world_mask)

    def _present(self, name: str) -> np.ndarray:
        return on_host(getattr(self._host.model, f"joint_{name}"))[self._lanes.dofs]

    def _refuse_held(self, name: str, before: np.ndarray, values: np.ndarray) -> None:
        """Refuse values that the built solver cannot take over, shape [worlds, DOFs]."""
        found = self._host.services.support.range_of(f"joint_{name}")
        if found is None:
            return
        low, high = (np.asarray(end)[self._lanes.dofs] for end in (found.low, found.high))
        wrong = np.argwhere(((values < low) | (values > high)) & (values != before))
        for world, column in wrong[:1].tolist():
            raise ConfigError(
                f"{name}: the built solver cannot have {values[world, column]:g} at {self._lanes.labels[column]!r};"
                f" give {found.what} in the file, or set scene.settable_joints = true"
            )


TARGETS_OF_CONTROL = {"position_targets": "joint_target_q", "velocity_targets": "joint_target_qd"}
"""Arrays of `newton.Control` with the targets of all joints, by the name of an actuator's own array."""


class SharedTargets:
    """Keeps the targets of an actuator and those in `control` equal: whichever was written since the last step holds.

    If both were written, those in `control` hold. The present targets in `control` count as written by nobody.
    """

    def __init__(
        self, lanes: Lanes, own: tuple[wp.array, wp.array], control: newton.Control, world_of_lane: wp.array[int]
    ) -> None:
        self._world_of_lane, self._own, device = world_of_lane, own, lanes.device
        dofs, coordinates = lanes.dofs.ravel(), lanes.coordinates.ravel()
        self._dofs, self._coordinates = (wp.array(each, dtype=int, device=device) for each in (dofs, coordinates))
        # What both held after the last step; another value in `control` was written by a user.
        self._known_positions, self._known_velocities = (
            wp.array(on_host(array)[index], dtype=float, device=device)
            for array, index in ((control.joint_target_q, coordinates), (control.joint_target_qd, dofs))
        )
        self._no_worlds = wp.zeros(0, dtype=bool, device=device)

    def exchange(self, control: newton.Control, kept_worlds: wp.array | None = None) -> None:
        """Take over what was written into `control`, and write all targets there. May be recorded.

        With a mask of shape [world_count + 1], the actuator's own targets hold in the masked worlds, and others stay.
        """
        own = [array.flatten() for array in self._own]
        kept = self._no_worlds if kept_worlds is None else kept_worlds
        inputs = [self._world_of_lane, kept, self._dofs, self._coordinates, *own]
        inputs += [self._known_positions, self._known_velocities, control.joint_target_q, control.joint_target_qd]
        # A tape has the user's own arrays; the exchange would hide them.
        wp.launch(exchange_targets, self._dofs.size, inputs, device=self._dofs.device, record_tape=False)


class JointActuator(FrozenAttributes):
    """An actuator of joints: it finds them, and has their targets and parameters. A plugin adds how it acts.

    `DriveActuator` is one with a drive of Newton's.

    Args:
        config: The plugin's configuration.
    """

    _may_replace = True

    worlds: np.ndarray
    """The worlds that have the driven joints, ascending, as on the arrays' first axis, shape [worlds]. Known after
    `bind`."""
    joint_labels: tuple[str, ...]
    """Labels of the driven axes of the first world along the arrays' second axis: those of single-axis joints are the
    joints' own."""
    actuated_dofs: wp.array
    """DOFs that this actuator drives, shape [len(worlds) × DOFs]."""
    notes: tuple[str, ...] = ()
    """Joints that the patterns match but that have no axes, so that they are left out; effort limits of the asset."""
    honoured_features: Mapping[str, Sequence[str]] = {}
    """Features that the actuator honours itself, so that the solver need not, with the labels of the joints."""
    asked_features: Mapping[str, Sequence[str]] = {}
    """Features that keys of the table ask of the solver, with the labels of the joints."""
    joint_properties: Sequence[str] = JOINT_PROPERTIES
    """Properties of the joints in the solver that keys of the table give. A plugin that uses one of these keys for
    something else leaves it out."""
    unread_targets: Mapping[str, str] = {}
    """Targets that the law does not read, with the reason. Access to such a target raises an AttributeError."""

    def __init__(self, config: JointConfig) -> None:
        self.config: Any = config
        #: The chosen axes of each prototype; known after `extend_prototype`.
        self.axes: dict[int, Axes] = {}

    @hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints, and switch off the asset's drives of these joints.

        Raises:
            ConfigError: The object belongs to another simulation, or a pattern matches no joint.
        """
        if hasattr(self, "_host"):
            raise ConfigError(
                f"object: this {type(self).__name__} belongs to another simulation; make an object for each simulation"
            )
        axes = self.axes[prototype] = Axes.of(builder, self.config.joints)
        for name in self.joint_properties:
            axes.assign(builder, f"joint_{name}", getattr(self.config, name), name)
        axes.switch_off_drives(builder, has_delay=hasattr(self.config, "delay"))
        self.notes = axes.noted_after(self.notes)
        for key in (*self.joint_properties, "velocity_limit"):
            if getattr(self.config, key, None) is not None:
                feature = FEATURES_OF_KEYS[key]
                known = self.asked_features.get(feature, ())
                self.asked_features = {**self.asked_features, feature: (*known, *axes.joint_labels(builder))}

    @hookimpl
    def bind(self, binding: Binding) -> None:
        """Find the joints in all worlds, allocate their targets, and draw random parameters."""
        lanes = Lanes.of(binding, self.axes)
        self._host, self._lanes = binding.simulation, lanes
        self.worlds, self.joint_labels = lanes.worlds, lanes.labels
        self.actuated_dofs = wp.array(lanes.dofs.ravel(), dtype=int, device=lanes.device)
        self._targets = self.build(binding, lanes)
        for name, array in self._targets.items():
            ShapedArray.name(array, f"{binding.label.replace(':', '.')}.{name}")
        self._properties = JointProperties(self.config, self.joint_properties, lanes, self._host)
        world_of_lane = lanes.world_of_lane()
        self._parameters = Parameters(lanes, world_of_lane, binding)
        self._properties.publish(self._properties.random)
        if self._properties.random or (self.gain_changes and self._parameters.drawn):
            self._host.services.model_changes.is_told_in_steps = True
        own = (self._targets["position_targets"], self._targets["velocity_targets"])
        self._shared = SharedTargets(lanes, own, self._host.control, world_of_lane)

    def build(self, binding: Binding, lanes: Lanes) -> Mapping[str, wp.array]:
        """Prepare the actuator, with its parameters from `lanes`, and return its targets by name.

        Args:
            binding: The actuator's place in the simulation.
            lanes: The driven DOFs.

        Returns:
            `position_targets`, `velocity_targets` and `feedforward`, each of shape [len(worlds), DOFs].
        """
        initial = on_host(binding.simulation.model.joint_q)[lanes.coordinates]
        positions = wp.array(initial, dtype=float, device=lanes.device)
        velocities, feedforward = (wp.zeros_like(positions) for _ in range(2))
        return {"position_targets": positions, "velocity_targets": velocities, "feedforward": feedforward}

    def exchange_targets(self, control: newton.Control) -> None:
        """Take over targets that were written into `control`, and write all targets there. May be recorded."""
        self._shared.exchange(control)

    @hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Draw random parameters of the masked worlds anew, mask of shape [world_count + 1]; targets are restored."""
        self._shared.exchange(self._host.control, world_mask)
        self._parameters.draw(world_mask)
        self._properties.publish(self._properties.random, world_mask)

    @property
    def position_targets(self) -> wp.array:
        """Targets [m or rad], shape [len(worlds), DOFs], to be written in place; at first the initial positions."""
        return self._target("position_targets")

    @property
    def velocity_targets(self) -> wp.array:
        """Targets [m/s or rad/s], shape [len(worlds), DOFs], to be written in place; at first zero."""
        return self._target("velocity_targets")

    @property
    def feedforward(self) -> wp.array:
        """Effort that the drive adds [N or N·m], shape [len(worlds), DOFs], to be written in place; at first zero."""
        return self._target("feedforward")

    @property
    def shared_arrays(self) -> frozenset[str]:
        """Targets in `control` that users may set for the driven DOFs: those that the law reads."""
        return frozenset(shared for own, shared in TARGETS_OF_CONTROL.items() if own not in self.unread_targets)

    def _target(self, name: str) -> wp.array:
        if name in self.unread_targets:
            raise AttributeError(f"{name}: {self.unread_targets[name]}")
        return self._targets[name]

    def _refusal(self, name: str) -> str:
        if name in self._targets:
            return "recorded steps read it; write into it, with .assign(values) or .fill_(value)"
        return super()._refusal(name)

    def _cure_of(self, name: str) -> str | None:
        return f"set it with .set({name!r}, values)" if name in self._parameters else None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names for `get` and `set`, by places in the actuator's table, such as `kp` and `clamping[0].max_effort`."""
        return tuple(self._parameters)

    def get(self, name: str) -> wp.array:
        """Return the values of a parameter, shape [len(worlds), DOFs]; the next step reads values written into them.

        Armature, friction and damping are copies, because the solver has to be notified of a change: use `set`.

        Args:
            name: Name of the parameter, such as `kp` or `clamping[0].max_effort`.

        Raises:
            ConfigError: There is no such parameter.
        """
        return self._properties.get(name) if name in self.joint_properties else self._parameters.get(name)

    def parameter_array(self, name: str) -> wp.array:
        """For the core: return the array that the law was given for a parameter, shape [len(worlds) × DOFs].

        Args:
            name: One of `parameters`.

        Raises:
            ConfigError: There is no such parameter, or the solver has to be notified of it.
        """
        if name in self.joint_properties:
            raise ConfigError(f"{name!r} is a number of the model, and no parameter of the law; choose another one")
        return self._parameters.array(name)

    def set(self, name: str, values: Any, worlds: Any = None, joints: str | Sequence[str] | None = None) -> None:
        """Set a parameter from the next step on, even if the step is recorded. Reads and writes the device.

        A parameter that the file draws at random is drawn anew when its world is reset.

        Args:
            name: One of `parameters`.
            values: A number, or an array that NumPy can broadcast to [len(worlds), DOFs of joints].
            worlds: Indices of worlds that have the joints, or a mask of shape [world_count]; by default all of them.
            joints: Patterns of labels of axes, in the order of `joint_labels`; by default all.

        Raises:
            SimulationError: The simulation is closed.
            ConfigError: There is no such parameter, world or joint; or a value is out of bounds or not finite.
        """
        refuse_closed(self._host, "set")
        if name in self.joint_properties:
            self._properties.set(self._parameters, name, values, worlds, joints)
        else:
            self._parameters.set(name, values, worlds, joints)

    gain_changes: frozenset[str] = frozenset()
    """Names in `newton.ModelFlags` of what `write_gains` changes in the model."""

    @property
    def gains(self) -> tuple[str, ...]:
        """The gains that a component may change in a step: parameters of the law alone."""
        return tuple(name for name in ("kp", "ki", "kd") if name in self._parameters)

    @property
    def drawn_parameters(self) -> frozenset[str]:
        """The parameters that the file draws at random when a world is reset."""
        return self._parameters.drawn

    def gain(self, name: str) -> wp.array:
        """Return the memory of a gain, shape [len(worlds), DOFs]: write into it, and then call `write_gains`.

        Args:
            name: One of `gains`.
        """
        return self._parameters.get(name)

    def write_gains(self) -> None:
        """Apply written gains: the law reads them where they are. May be recorded."""
