"""Actuators made of a Newton drive: targets → delay → drive → clamping → `joint_f`."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from newton.actuators import ClampingBase, Delay, DriveBase
from pippin.binding import Binding, refuse_closed
from pippin.errors import PluginError
from pippin.fixed import FixedAttributes
from pippin.hookspecs import hookimpl

from .config import ActuatorConfig, DelayConfig
from .effort import build_effort
from .effort_limit import build_effort_limit
from .joint_properties import JOINT_PROPERTIES, JointProperties
from .joints import Axes, lanes_of, refuse_second_simulation
from .parameters import Lanes, Parameters
from .targets import TARGETS_OF_CONTROL, SharedTargets, refuse_assignment

__all__ = ["TARGETS", "DriveActuator"]

TARGETS = ("position_targets", "velocity_targets", "feedforward")
"""The targets of an actuator, each an array to be written in place."""


class DriveActuator(FixedAttributes, abc.ABC):
    """An actuator made of a Newton drive, with optional delay and clamping. A plugin adds `build_drive`.

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
    unread_targets: Mapping[str, str] = {}
    """Targets that the law does not read, with the reason. Access to such a target raises an AttributeError."""
    computed_effort: wp.array
    """Effort of the last physics step before clamping [N or N·m], shape [len(worlds), DOFs]."""
    applied_effort: wp.array
    """Effort of the last physics step as it reached the joints [N or N·m], shape [len(worlds), DOFs]."""

    def __init__(self, config: ActuatorConfig) -> None:
        self.config = config
        self._axes: dict[int, Axes] = {}

    @abc.abstractmethod
    def build_drive(self, lanes: Lanes) -> DriveBase:
        """Return the drive, with its parameters as arrays of one value per lane."""

    def build_clamping(self, lanes: Lanes) -> list[ClampingBase]:
        """Return the clampings in order; a plugin with a limit of its own puts this limit first."""
        return list(_clampings(self.config, lanes))

    def build_delay(self, lanes: Lanes) -> Delay | None:
        """Return the delay of the targets, or None if there is none."""
        return _build_delay(self.config.delay, lanes)

    @hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints, and switch off the asset's drives of these joints."""
        refuse_second_simulation(self, is_bound=hasattr(self, "_effort"))
        axes = self._axes[prototype] = Axes.select(builder, self.config)
        axes.switch_off_drives(builder)
        self.notes = axes.noted_after(self.notes)

    @hookimpl
    def bind(self, binding: Binding) -> None:
        """Build drive, clamping and delay over the joints of all worlds that have them."""
        simulation, lanes = binding.simulation, lanes_of(binding, self._axes)
        drive, clamping = self.build_drive(lanes), self.build_clamping(lanes)
        limit, notes = build_effort_limit(self.config, simulation.model, lanes, clamping)
        clamping, self.notes = [*clamping, *limit], (*self.notes, *notes, *_note_on_gains(self.config))
        delay = self.build_delay(lanes)
        for parameter in lanes.parameters.values():
            parameter.locate([drive, *clamping, *([] if delay is None else [delay])])
        effort = build_effort(simulation.model, lanes, drive, clamping, delay, self.config.effort_mode)
        self.worlds, self.joint_labels, self.actuated_dofs = lanes.worlds, lanes.labels, effort.dofs
        self.computed_effort, self.applied_effort = effort.computed_effort, effort.applied_effort
        self._effort, self._host = effort, simulation
        self._properties = JointProperties(self.config, lanes, simulation)
        self._parameters = Parameters(lanes, effort.world_of_lane, binding)
        self._properties.publish(self._properties.random)
        self._states = binding.double_buffer(effort.state(), effort.state())
        own = (effort.position_targets, effort.velocity_targets)
        self._shared = SharedTargets(lanes.dofs, lanes.coordinates, *own, simulation.control)

    @hookimpl
    def apply_actuators(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Add the effort of one physics step to `control.joint_f`. May be recorded if the drive may."""
        self._shared.exchange(control)
        self._effort.add(state, control, self._states.current, self._states.next, dt)
        self._states.swap()

    def step(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Apply the actuator outside of a step, if `Simulation.set_enabled` has disabled it for the host.

        Args:
            state: The state that the law reads.
            control: The control, whose `joint_f` is overwritten on the driven DOFs.
            dt: Length of the physics step that follows [s].

        Raises:
            SimulationError: The simulation is closed.
        """
        refuse_closed(self._host, "step")
        self._effort.zero(control)
        self.apply_actuators(state, control, dt)
        self._states.settle()

    @hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Clear delayed targets, the drive's memory and efforts of the masked worlds; draw random parameters anew."""
        self._effort.reset(self._states.current, world_mask)
        self._parameters.draw(world_mask)
        self._properties.publish(self._properties.random, world_mask)

    @property
    def is_capturable(self) -> bool:
        """Whether the drive may be recorded into a graph."""
        return self._effort.is_capturable

    @property
    def is_differentiable(self) -> bool:
        """Whether a rollout may record this: explicit PD without delay, clamped by effort or position at most."""
        return self._effort.is_differentiable

    @property
    def position_targets(self) -> wp.array:
        """Targets [m or rad], shape [len(worlds), DOFs], to be written in place; at first the initial positions."""
        return self._target("position_targets")

    @position_targets.setter
    def position_targets(self, values: Any) -> None:
        refuse_assignment("position_targets")

    @property
    def velocity_targets(self) -> wp.array:
        """Targets [m/s or rad/s], shape [len(worlds), DOFs], to be written in place; at first zero."""
        return self._target("velocity_targets")

    @velocity_targets.setter
    def velocity_targets(self, values: Any) -> None:
        refuse_assignment("velocity_targets")

    @property
    def feedforward(self) -> wp.array:
        """Effort that the drive adds [N or N·m], shape [len(worlds), DOFs], to be written in place; at first zero."""
        return self._target("feedforward")

    @feedforward.setter
    def feedforward(self, values: Any) -> None:
        refuse_assignment("feedforward")

    @property
    def shared_arrays(self) -> frozenset[str]:
        """Targets in `control` that users may set for the driven DOFs: those that the law reads."""
        return frozenset(shared for own, shared in TARGETS_OF_CONTROL.items() if own not in self.unread_targets)

    def _target(self, name: str) -> wp.array:
        if name in self.unread_targets:
            raise AttributeError(f"{name}: {self.unread_targets[name]}")
        return getattr(self._effort, name)

    @property
    def saturated(self) -> wp.array:
        """Whether a limit changed the effort of the last physics step, shape [len(worlds), DOFs].

        Each access compares the efforts anew, in the same array. May be recorded.
        """
        return self._effort.saturated()

    def _cure_of(self, name: str) -> str | None:
        return f"set it with .set({name!r}, values)" if name in self._parameters else None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names for `get` and `set`, by places in the actuator's table, such as `kp` and `clamping[0].max_effort`."""
        return tuple(self._parameters)

    def get(self, name: str) -> wp.array:
        """Return the values of a parameter, shape [len(worlds), DOFs]; the next step reads values written into them.

        Armature, friction and damping are copies, because the solver has to be told of a change: use `set`.

        Args:
            name: Name of the parameter, such as `kp` or `clamping[0].max_effort`.

        Raises:
            ConfigError: There is no such parameter.
        """
        return self._properties.get(name) if name in JOINT_PROPERTIES else self._parameters.get(name)

    def set(
        self,
        name: str,
        values: Any,
        worlds: Any = None,
        joints: str | Sequence[str] | None = None,
    ) -> None:
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
        if name in JOINT_PROPERTIES:
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
        """Hand written gains on: the law reads them where they are. May be recorded."""

    @property
    def drive_state(self) -> Any:
        """Memory of the drive between steps, in arrays over the lanes; None if it has none."""
        return self._states.current.drive_state


def _note_on_gains(config: ActuatorConfig) -> Iterator[str]:
    """Yield a note on a law whose gains are all zero; laws without gains have none."""
    gains = [getattr(config, name) for name in ("kp", "ki", "kd") if hasattr(config, name)]
    if gains and all(gain == 0.0 for gain in gains):
        yield "kp, kd: all gains are 0, so that only feedforward and constant efforts act"


def _clampings(config: ActuatorConfig, lanes: Lanes) -> Iterator[ClampingBase]:
    for index, choice in enumerate(config.clamping):
        plugin = lanes.catalog.find("clamping", choice.type).load()
        built = plugin(choice.config).build(lanes.within(f"clamping[{index}]"))  # pyright: ignore
        if not isinstance(built, ClampingBase):
            raise PluginError(
                f"clamping[{index}]: build of {choice.type!r} returned {built!r};"
                " return a newton.actuators.ClampingBase"
            )
        yield built


def _build_delay(config: DelayConfig | None, lanes: Lanes) -> Delay | None:
    """Return Newton's delay; None for zero steps, which Newton refuses."""
    if config is None or config.bounds[1] == 0:
        return None
    longest = config.bounds[1]
    steps = lanes.within("delay").shared(config.bounds, "steps", maximum=longest)
    return Delay(delay_steps=steps, max_delay=longest)
