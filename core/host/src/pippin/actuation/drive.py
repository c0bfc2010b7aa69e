"""Base classes of drives and clampings, and actuators made of them: targets → delay → drive → clamping → `joint_f`."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import newton
import numpy as np
import warp as wp
from newton.actuators import ClampingBase, Delay, DriveBase
from pippin.assets.actuators.asset_actuators import DOF_DELAY
from pippin.attribute_rows import dof_numbers
from pippin.binding import Binding, refuse_closed
from pippin.errors import ConfigError, PluginError
from pippin.hookspecs import hookimpl
from pippin.support.features import NO_LIMIT

from .config import ActuatorConfig
from .effort import ExplicitEffort, ImplicitEffort, zero_efforts
from .joint_actuator import JointActuator
from .limits import VelocityClamping, build_effort_limit, build_velocity_limit, note_on_limits
from .parameters import LaneParameter, Lanes


class Clamping(abc.ABC):
    """A limit on the effort of any actuator. A plugin adds `build`.

    Args:
        config: The plugin's configuration.
    """

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def build(self, lanes: Lanes) -> ClampingBase:
        """Return Newton's clamping, with its parameters as arrays of one value per lane."""


TARGETS = ("position_targets", "velocity_targets", "feedforward")
"""The targets of an actuator, each an array to be written in place."""


class DriveActuator(JointActuator, abc.ABC):
    """An actuator made of a Newton drive, with optional delay and clamping. A plugin adds `build_drive`.

    Args:
        config: The plugin's configuration.
    """

    computed_effort: wp.array
    """Effort of the last physics step before clamping [N or N·m], shape [len(worlds), DOFs]."""
    applied_effort: wp.array
    """Effort of the last physics step as it reached the joints [N or N·m], shape [len(worlds), DOFs]."""

    @hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints, switch off the asset's drives of these joints, and note their velocity limits."""
        super().extend_prototype(builder, prototype)
        axes = self.axes[prototype]
        if getattr(self.config, "limits_joint_speed", True):
            axes.assign(builder, "joint_velocity_limit", self.config.velocity_limit, "velocity_limit")
        for dof in axes.dofs(builder):
            builder.joint_velocity_limit[dof] = builder.joint_velocity_limit[dof] or NO_LIMIT
        known = self.honoured_features.get("velocity_limits", ())
        self.honoured_features = {"velocity_limits": (*known, *axes.joint_labels(builder))}

    @abc.abstractmethod
    def build_drive(self, lanes: Lanes) -> DriveBase:
        """Return the drive, with its parameters as arrays of one value per lane."""

    def build_clamping(self, lanes: Lanes) -> list[ClampingBase]:
        """Return the clampings in order; a plugin with a limit of its own puts this limit first."""
        return list(_clampings(self.config, lanes))

    def build_delay(self, lanes: Lanes) -> Delay | None:
        """Return the delay of the targets, that of the table, else of the asset; None if there is none."""
        config = self.config.delay
        if config is None:
            return self._delay_of_asset(lanes)
        if config.room == 0:  # Newton refuses a delay of zero steps
            return None
        steps = lanes.within("delay").shared(config.bounds, "steps", maximum=config.room)
        return Delay(delay_steps=steps, max_delay=config.room)

    def _delay_of_asset(self, lanes: Lanes) -> Delay | None:
        """Return the delay of the asset's actuators that this one replaces, in whole steps and no less."""
        lags = dof_numbers(self._host.model, DOF_DELAY)[lanes.dofs]
        steps = np.ceil(lags / lanes.dt * (1.0 - 1e-6)).astype(int)  # the lags are rounded
        if not steps.any():
            return None
        self.notes += (note_on_limits("delay.steps", lanes.labels, np.where(steps, steps, np.inf)[0]),)
        own = lanes.within("delay").own(steps, "steps", minimum=0.0, maximum=int(steps.max()))
        return Delay(delay_steps=own, max_delay=int(steps.max()))

    def _build_offsets(self, lanes: Lanes) -> wp.array[float] | None:
        """Return what the encoders read at zero, shape [lanes]; None if nobody asks."""
        if self.config.offset is None:
            return None
        if "position_targets" in self.unread_targets:
            raise ConfigError(f"offset: has no effect: {self.unread_targets['position_targets']}; leave it out")
        return lanes.per_lane(self.config.offset, "offset")

    def build(self, binding: Binding, lanes: Lanes) -> Mapping[str, wp.array]:
        """Build drive, clamping and delay over the joints of all worlds that have them; return the targets,
        each of shape [len(worlds), DOFs].
        """
        model = binding.simulation.model
        drive, clamping = self.build_drive(lanes), self.build_clamping(lanes)
        efforts = build_effort_limit(self.config, model, lanes, clamping)
        speeds = build_velocity_limit(self.config, binding.simulation, lanes, clamping)
        clamping = [*clamping, *efforts[0], *speeds[0]]
        self.notes = (*self.notes, *efforts[1], *speeds[1])
        gains = [getattr(self.config, name) for name in ("kp", "ki", "kd") if hasattr(self.config, name)]
        if gains and all(gain == 0.0 for gain in gains):  # laws without gains have none
            self.notes += ("kp, kd: all gains are 0, so that only feedforward and constant efforts act",)
        of_law = dict(lanes.parameters)
        delay, offsets = self.build_delay(lanes), self._build_offsets(lanes)
        if self.config.effort_mode == "explicit":
            effort = self._effort = ExplicitEffort(model, lanes, drive, clamping, delay, offsets)
        else:
            keepers = {name: _keeper(each, [drive, *clamping]) for name, each in of_law.items()}
            effort = self._effort = ImplicitEffort(model, lanes, drive, clamping, delay, offsets)
            _follow(of_law, keepers)
        self.computed_effort, self.applied_effort = effort.computed_effort, effort.applied_effort
        self._states = binding.double_buffer(effort.state(), effort.state())
        return {name: getattr(effort, name) for name in TARGETS}

    @hookimpl
    def apply_actuators(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Add the effort of one physics step to `control.joint_f`. May be recorded if the drive may."""
        self.exchange_targets(control)
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
        zero_efforts(self._effort.dofs, control)
        self.apply_actuators(state, control, dt)
        self._states.settle()

    def remember_targets(self, set_targets: Callable[[int], None]) -> None:
        """Let the delay start with targets of earlier physics steps, in place of those of the first step.

        Args:
            set_targets: Writes the targets of a physics step, which is that many before the next one.
        """
        room = self._effort.delay_room
        for back in range(room + room % 2, 0, -1):  # after an even number, the memory of the drive is in place
            set_targets(back)
            self._effort.remember(self._host.state, self._states.current, self._states.next)
            self._states.swap()

    @hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Clear delayed targets, the drive's memory and efforts of the masked worlds; draw random parameters anew."""
        self._effort.reset(self._states.current, world_mask)
        super().reset_worlds(world_mask)

    @property
    def shared_arrays(self) -> frozenset[str]:
        """Targets in `control` that users may set for the driven DOFs, and the velocity limits that the law reads."""
        has_limit = any(isinstance(clamp, VelocityClamping) for clamp in self._effort.clamping)
        return super().shared_arrays | ({"joint_velocity_limit"} if has_limit else frozenset())

    @property
    def is_capturable(self) -> bool:
        """Whether the drive may be recorded into a graph."""
        return self._effort.is_capturable

    @property
    def is_differentiable(self) -> bool:
        """Whether a rollout may record this: explicit PD without delay, clamped by effort or position at most."""
        return self._effort.is_differentiable

    @property
    def saturated(self) -> wp.array:
        """Whether a limit changed the effort of the last physics step, shape [len(worlds), DOFs].

        Each access compares the efforts anew, in the same array. May be recorded.
        """
        return self._effort.saturated()

    @property
    def drive_state(self) -> Any:
        """Memory of the drive between steps, in arrays over the lanes; None if it has none."""
        return self._states.current.drive_state


def _keeper(parameter: LaneParameter, parts: Iterable[Any]) -> Any:
    """Return the drive or clamping that keeps a parameter in the attribute of its name; None if none does."""
    return next((part for part in parts if getattr(part, parameter.attribute, None) is parameter.array), None)


def _follow(parameters: Mapping[str, LaneParameter], keepers: Mapping[str, Any]) -> None:
    """Take over the columns of one array by which Newton's implicit mode replaced the arrays of parameters."""
    for name, parameter in parameters.items():
        if keepers[name] is None:
            raise PluginError(
                f"{name}: no drive or clamping keeps it in an attribute {parameter.attribute!r}, where the implicit"
                " mode replaces it; pass the name of the attribute to `Lanes.per_lane`"
            )
        parameter.array = getattr(keepers[name], parameter.attribute)


def _clampings(config: ActuatorConfig, lanes: Lanes) -> Iterator[ClampingBase]:
    for index, choice in enumerate(config.clamping):
        plugin = lanes.catalog.find("clamping", choice.type).load()
        built = plugin(choice.config).build(lanes.within(f"clamping[{index}]"))
        if not isinstance(built, ClampingBase):
            raise PluginError(
                f"clamping[{index}]: build of {choice.type!r} returned {built!r};"
                " return a newton.actuators.ClampingBase"
            )
        yield built
