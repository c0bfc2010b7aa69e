"""The effort of one actuator over all worlds: targets → delay → drive → clamping → `joint_f`."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from newton.actuators import (
    Actuator,
    ClampingBase,
    ClampingMaxEffort,
    ClampingPositionBased,
    Delay,
    DriveBase,
    DrivePD,
    JointSpaceResponse,
)
from pippin.arrays import on_host, present
from pippin.errors import ConfigError, PluginError

from . import kernels
from .limits import VelocityClamping
from .parameters import Lanes

Targets = tuple[wp.array, wp.array, wp.array]
Efforts = tuple[wp.array, wp.array]


def zero_efforts(dofs: wp.array, control: newton.Control) -> None:
    """Set `control.joint_f` to zero on some DOFs only. May be recorded."""
    wp.launch(kernels.zero_efforts, len(dofs), [dofs, control.joint_f], device=dofs.device)


class Effort(abc.ABC):
    """The arrays of one actuator over all worlds, and the order in which delay, drive and clamping work on them.

    Raises:
        PluginError: The law reads inputs that no actuator has.
    """

    is_capturable: bool
    """Whether the law may be recorded into a graph."""
    is_differentiable: bool
    """Whether a tape may record the law."""

    def __init__(
        self,
        model: newton.Model,
        lanes: Lanes,
        drive: DriveBase,
        clamping: Sequence[ClampingBase],
        delay: Delay | None,
        offsets: wp.array[float] | None,
    ) -> None:
        if drive.custom_inputs:
            names = ", ".join(drive.custom_inputs)
            raise PluginError(f"{type(drive).__name__} reads inputs that no actuator has: {names}")
        self._device, self._count = lanes.device, lanes.dofs.size
        self._drive, self.clamping, self._delay, self._offsets = drive, clamping, delay, offsets
        # The index of each lane among DOFs, coordinates and lanes, in the integer type of Newton's actuators.
        rows = (lanes.dofs.ravel(), lanes.coordinates.ravel(), np.arange(lanes.dofs.size))
        self._dofs, self._coordinates, self._lanes = (
            wp.array(row.astype(np.uint32), dtype=wp.uint32, device=lanes.device) for row in rows
        )
        initial = on_host(model.joint_q)[lanes.coordinates]
        options: Any = {"dtype": float, "device": lanes.device, "requires_grad": model.requires_grad}
        self.position_targets = wp.array(initial, **options)
        self.velocity_targets, self.feedforward, self.computed_effort, self.applied_effort = (
            wp.zeros(lanes.dofs.shape, **options) for _ in range(4)
        )
        if not clamping:
            self.applied_effort = self.computed_effort
        self._seen_targets = None if offsets is None else wp.zeros_like(self.position_targets.flatten())
        self.dofs = wp.array(lanes.dofs.ravel(), dtype=int, device=lanes.device)
        self.world_of_lane = lanes.world_of_lane()
        self._is_saturated = wp.zeros(lanes.dofs.shape, dtype=bool, device=lanes.device)
        self._lane_mask = wp.zeros(self._count, dtype=bool, device=lanes.device)
        self._prepare(model)

    @abc.abstractmethod
    def _prepare(self, model: newton.Model) -> None:
        """Bind the parts to the lanes."""

    @abc.abstractmethod
    def state(self) -> Actuator.State:
        """Return the initial memory of delay and drive."""

    @abc.abstractmethod
    def compute(
        self, state: newton.State, targets: Targets, efforts: Efforts, current: Any, following: Any, dt: float
    ) -> None:
        """Write the efforts of one step of length `dt` [s], before and after clamping; one array if nothing clamps.

        Targets are position [m, rad], velocity [m/s, rad/s] and feedforward [N, N·m]; all arrays have shape [lanes].
        `current` and `following` are the memories of delay and drive before and after the step.
        """

    def add(self, state: newton.State, control: newton.Control, current: Any, following: Any, dt: float) -> None:
        """Add the effort of one step to `control.joint_f`, then note the targets for later steps."""
        targets = (self._positions(state), self.velocity_targets.flatten(), self.feedforward.flatten())
        efforts = self._efforts(state)
        self.compute(state, targets, efforts, current, following, dt)
        wp.launch(kernels.add_efforts, self._count, [self.dofs, efforts[1], control.joint_f], device=self._device)

    @property
    def delay_room(self) -> int:
        """Longest delay that can be set [physics steps]."""
        return 0 if self._delay is None else self._delay.buf_depth

    def remember(self, state: newton.State, current: Any, following: Any) -> None:
        """Note the targets for later steps alone, as a step does."""
        assert self._delay is not None, "there is a delay"
        targets = (self._positions(state), self.velocity_targets.flatten(), self.feedforward.flatten())
        memories = current.delay_state, following.delay_state
        self._delay.update_state(*targets, self._lanes, self._lanes, *memories)

    def saturated(self) -> wp.array:
        """Return whether a limit changed the effort of the last step, in the shape of the efforts."""
        efforts = [self.computed_effort.flatten(), self.applied_effort.flatten(), self._is_saturated.flatten()]
        wp.launch(kernels.mark_saturated, self._count, efforts, device=self._device)
        return self._is_saturated

    def reset(self, state: Actuator.State, world_mask: wp.array) -> None:
        """Reset the lanes of the masked worlds to the start."""
        mask = self._lane_mask
        inputs = [self.world_of_lane, world_mask, mask, self.computed_effort.flatten(), self.applied_effort.flatten()]
        wp.launch(kernels.reset_lanes, self._count, inputs, device=self._device)
        state.reset(mask)

    def _positions(self, state: newton.State) -> wp.array:
        """Return the target positions as the law compares them with positions of joints; see `_efforts`."""
        targets = self.position_targets.flatten()
        if self._offsets is None:
            return targets
        seen = wp.zeros_like(targets) if state.requires_grad else present(self._seen_targets)
        wp.launch(kernels.subtract, self._count, [targets, self._offsets], [seen], device=self._device)
        return seen

    def _efforts(self, state: newton.State) -> Efforts:
        """Return arrays for efforts before and after clamping; in a rollout new ones, which a tape finds unchanged."""
        computed, applied = self.computed_effort.flatten(), self.applied_effort.flatten()
        if not state.requires_grad:
            return computed, applied
        own = wp.zeros_like(computed)
        return own, own if self.applied_effort is self.computed_effort else wp.zeros_like(applied)


class ExplicitEffort(Effort):
    """The law at the state at the start of the step; its effort holds until the next step."""

    def _prepare(self, model: newton.Model) -> None:
        for part in (self._drive, *self.clamping, *([] if self._delay is None else [self._delay])):
            part.finalize(self._device, self._count)
        self.is_capturable = self._drive.is_graphable()
        # Nothing is remembered, and Newton has the backward pass of all parts.
        known = (DrivePD, ClampingMaxEffort, ClampingPositionBased, VelocityClamping)
        parts = (self._drive, *self.clamping)
        self.is_differentiable = self._delay is None and all(isinstance(part, known) for part in parts)

    def state(self) -> Actuator.State:
        """Return the initial memory of delay and drive."""
        return Actuator.State(
            delay_state=None if self._delay is None else self._delay.state(self._count, self._device),
            drive_state=self._drive.state(self._count, self._device) if self._drive.is_stateful() else None,
        )

    def compute(
        self, state: newton.State, targets: Targets, efforts: Efforts, current: Any, following: Any, dt: float
    ) -> None:
        """Write the effort of one step; see `Effort.compute`."""
        position, velocity = present(state.joint_q), present(state.joint_qd)
        lane, at = self._lanes, (self._coordinates, self._dofs)
        reached = targets
        if self._delay is not None:
            reached = self._delay.get_delayed_targets(*targets, lane, lane, current.delay_state)
        effort, applied = efforts
        memory = current.drive_state
        self._drive.compute(position, velocity, *reached, *at, lane, lane, effort, memory, dt, device=self._device)
        for index, clamp in enumerate(self.clamping):
            # A tape needs the input of each clamping; otherwise one array serves all of them.
            is_last = index == len(self.clamping) - 1
            limited = wp.zeros_like(applied) if state.requires_grad and not is_last else applied
            clamp.modify_forces(effort, limited, position, velocity, *at, device=self._device)
            effort = limited
        if self._drive.is_stateful():
            self._drive.update_state(memory, following.drive_state)
        if self._delay is not None:
            self._delay.update_state(*targets, lane, lane, current.delay_state, following.delay_state)


class ImplicitEffort(Effort):
    """The law at the state at the end of the step, from the joints' response to effort: Newton's implicit mode.

    The end of the step includes what gravity and Coriolis forces do. Newton's `Actuator` works on arrays of all DOFs,
    so the targets are first spread into such arrays.

    Raises:
        ConfigError: Newton has no implicit mode for the law, or a driven joint is in no articulation.
    """

    def _prepare(self, model: newton.Model) -> None:
        self._actuator = Actuator(
            self._dofs,
            self._drive,
            self._delay,
            [clamp for clamp in self.clamping if not isinstance(clamp, VelocityClamping)],
            pos_indices=self._coordinates,
            control_computed_output_attr="computed_f",
        )
        try:
            self._response = JointSpaceResponse(model)
            self._actuator.set_effort_mode_implicit(self._response)
        except (NotImplementedError, ValueError) as error:
            raise ConfigError(f"effort_mode: 'implicit' is not possible here ({error}); use 'explicit'") from error
        self._model = model
        names = ("joint_target_q", "joint_target_qd", "joint_act", "joint_f", "computed_f", "gravity", "coriolis")
        counts = dict.fromkeys(names, model.joint_dof_count) | {"joint_target_q": model.joint_coord_count}
        self._control = {name: wp.zeros(count, dtype=float, device=model.device) for name, count in counts.items()}
        self._gravity, self._coriolis = self._control.pop("gravity"), self._control.pop("coriolis")
        self.is_capturable = self._actuator.is_graphable()
        self.is_differentiable = False  # Newton solves for the end of the step without a backward pass

    def state(self) -> Actuator.State:
        """Return the initial memory of delay and drive."""
        return self._actuator.state() or Actuator.State(delay_state=None, drive_state=None)

    def compute(
        self, state: newton.State, targets: Targets, efforts: Efforts, current: Any, following: Any, dt: float
    ) -> None:
        """Write the effort of one step; see `Effort.compute`."""
        # The arrays of the control have the order of the kernel's arguments.
        spread = [self._dofs, self._coordinates, *targets, *self._control.values()]
        wp.launch(kernels.spread_targets, self._count, spread, device=self._device)
        self._response.refresh(state)
        newton.eval_inverse_dynamics_passive(
            self._model, state, gravity_force=self._gravity, coriolis_force=self._coriolis
        )
        bias = [self._coriolis, self._gravity]
        wp.launch(kernels.add_to, len(self._gravity), bias, device=self._device)
        self._actuator.step(state, self._control, current, following, dt, bias_force=self._gravity)
        gather = [self._dofs, self._control["computed_f"], self._control["joint_f"], *efforts]
        wp.launch(kernels.gather_efforts, self._count, gather, device=self._device)
        at = (present(state.joint_q), present(state.joint_qd), self._coordinates, self._dofs)
        for clamp in self.clamping:
            if isinstance(clamp, VelocityClamping):
                clamp.modify_forces(efforts[1], efforts[1], *at, device=self._device)
