"""From targets to effort: the law at the state where a step starts, or solved for the state where it will end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pippin.arrays import present
from pippin.errors import ConfigError

if TYPE_CHECKING:
    import newton
    import warp as wp
    from newton.actuators import ClampingBase, Delay, DriveBase

    from .parameters import Lanes

__all__ = ["ExplicitEffort", "ImplicitEffort"]

Targets = tuple["wp.array", "wp.array", "wp.array"]
Efforts = tuple["wp.array", "wp.array"]


class ExplicitEffort:
    """The law at the state where the step starts: its effort holds until the next step.

    Args:
        model: The model of all worlds.
        lanes: The driven DOFs.
        drive: The law.
        clamping: Limits, in order.
        delay: How targets wait, if they do.
    """

    def __init__(
        self,
        model: newton.Model,
        lanes: Lanes,
        drive: DriveBase,
        clamping: Sequence[ClampingBase],
        delay: Delay | None,
    ) -> None:
        self._drive, self._clamping, self._delay = drive, clamping, delay
        self._device, self._count = lanes.device, lanes.dofs.size
        for part in (drive, *clamping, *([] if delay is None else [delay])):
            part.finalize(lanes.device, self._count)
        self._dofs, self._coordinates, self._lanes = indices_of(lanes)

    @property
    def is_capturable(self) -> bool:
        """Whether the law may be recorded into a graph."""
        return self._drive.is_graphable()

    @property
    def is_differentiable(self) -> bool:
        """Whether a tape may record the law: nothing is remembered, and Newton has the backward pass of all parts."""
        from newton.actuators import ClampingMaxEffort, ClampingPositionBased, DrivePD

        known = (DrivePD, ClampingMaxEffort, ClampingPositionBased)
        return self._delay is None and all(isinstance(part, known) for part in (self._drive, *self._clamping))

    def state(self) -> newton.actuators.Actuator.State:
        """Return what delay and drive carry from step to step, as at the start."""
        from newton.actuators import Actuator

        return Actuator.State(
            delay_state=None if self._delay is None else self._delay.state(self._count, self._device),
            drive_state=self._drive.state(self._count, self._device) if self._drive.is_stateful() else None,
        )

    def compute(
        self, state: newton.State, targets: Targets, efforts: Efforts, current: Any, following: Any, dt: float
    ) -> None:
        """Write the effort of one step.

        Args:
            state: Where the step starts.
            targets: Position [m, rad], velocity [m/s, rad/s] and feedforward [N, N·m], each of shape [lanes].
            efforts: Effort before and after clamping [N, N·m], each of shape [lanes]; one array where there is none.
            current: What delay and drive remember.
            following: What they will.
            dt: Length of the step [s].
        """
        import warp as wp

        position, velocity = present(state.joint_q), present(state.joint_qd)
        lane, at = self._lanes, (self._coordinates, self._dofs)
        reached = targets
        if self._delay is not None:
            reached = self._delay.get_delayed_targets(*targets, lane, lane, current.delay_state)
        effort, applied = efforts
        memory = current.drive_state
        self._drive.compute(position, velocity, *reached, *at, lane, lane, effort, memory, dt, device=self._device)
        for index, clamp in enumerate(self._clamping):
            # A tape needs what each clamping read; otherwise one array serves all of them.
            is_last = index == len(self._clamping) - 1
            limited = wp.zeros_like(applied) if state.requires_grad and not is_last else applied
            clamp.modify_forces(effort, limited, position, velocity, *at, device=self._device)
            effort = limited
        if self._drive.is_stateful():
            self._drive.update_state(memory, following.drive_state)
        if self._delay is not None:
            self._delay.update_state(*targets, lane, lane, current.delay_state, following.delay_state)


class ImplicitEffort:
    """The law at the state where the step will end, given how the joints answer an effort: Newton's implicit mode.

    Arguments are those of `ExplicitEffort`. Newton's `Actuator` works on arrays of all DOFs, so that the targets are
    spread into such arrays first.

    Raises:
        ConfigError: Newton has no implicit mode for the law, or a driven joint is in no articulation.
    """

    def __init__(
        self,
        model: newton.Model,
        lanes: Lanes,
        drive: DriveBase,
        clamping: Sequence[ClampingBase],
        delay: Delay | None,
    ) -> None:
        import warp as wp
        from newton.actuators import Actuator, JointSpaceResponse

        self._dofs, self._coordinates, _ = indices_of(lanes)
        self._device, self._count = lanes.device, lanes.dofs.size
        self._actuator = Actuator(
            self._dofs,
            drive,
            delay,
            list(clamping),
            pos_indices=self._coordinates,
            control_computed_output_attr="computed_f",
        )
        try:
            self._response = JointSpaceResponse(model)
            self._actuator.set_effort_mode_implicit(self._response)
        except (NotImplementedError, ValueError) as error:
            raise ConfigError(f"effort_mode: 'implicit' is not possible here ({error}); use 'explicit'") from error
        counts = {
            "joint_target_q": model.joint_coord_count,
            "joint_target_qd": model.joint_dof_count,
            "joint_act": model.joint_dof_count,
            "joint_f": model.joint_dof_count,
            "computed_f": model.joint_dof_count,
        }
        self._control = {name: wp.zeros(count, dtype=float, device=model.device) for name, count in counts.items()}

    @property
    def is_capturable(self) -> bool:
        """Whether the law may be recorded into a graph."""
        return self._actuator.is_graphable()

    @property
    def is_differentiable(self) -> bool:
        """Never: Newton solves for the end of the step without a backward pass."""
        return False

    def state(self) -> newton.actuators.Actuator.State:
        """Return what delay and drive carry from step to step, as at the start."""
        from newton.actuators import Actuator

        return self._actuator.state() or Actuator.State(delay_state=None, drive_state=None)

    def compute(
        self, state: newton.State, targets: Targets, efforts: Efforts, current: Any, following: Any, dt: float
    ) -> None:
        """Write the effort of one step; as `ExplicitEffort.compute`."""
        import warp as wp
        from .kernels import gather_efforts, spread_targets

        own = self._control
        spread = [self._dofs, self._coordinates, *targets]
        spread += [own["joint_target_q"], own["joint_target_qd"], own["joint_act"], own["joint_f"], own["computed_f"]]
        wp.launch(spread_targets, self._count, spread, device=self._device)
        self._response.refresh(state)
        self._actuator.step(state, own, current, following, dt)
        gather = [self._dofs, own["computed_f"], own["joint_f"], *efforts]
        wp.launch(gather_efforts, self._count, gather, device=self._device)


def indices_of(lanes: Lanes) -> tuple[wp.array, wp.array, wp.array]:
    """Return where each lane is among DOFs, among coordinates and among lanes, as Newton's actuators take it."""
    import warp as wp

    rows = (lanes.dofs.ravel(), lanes.coordinates.ravel(), np.arange(lanes.dofs.size))
    dofs, coordinates, own = (wp.array(row.astype(np.uint32), dtype=wp.uint32, device=lanes.device) for row in rows)
    return dofs, coordinates, own
