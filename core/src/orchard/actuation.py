"""What actuator plugins share: which joints, targets → delay → drive → clamping → `joint_f`.

Every name of `newton.actuators`, which Newton calls experimental, is used here and in the plugins' `build_drive`.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
from attrs.validators import ge, min_len

from . import labels
from .arrays import on_host, present
from .config.validators import finite
from .errors import ConfigError
from .hookspecs import hookimpl

if TYPE_CHECKING:
    import newton
    import warp as wp
    from newton.actuators import ClampingBase, Delay, DriveBase

    from .simulation import Simulation

__all__ = ["ActuatorConfig", "DelayConfig", "DriveActuator", "Lanes", "MaxEffortConfig"]


@attrs.frozen(kw_only=True)
class DelayConfig:
    """Targets and feedforward reach the drive some physics steps late; measurements do not wait."""

    steps: int = attrs.field(validator=ge(0))
    """Delay [physics steps]; until so many have passed, the oldest target known."""


@attrs.frozen(kw_only=True)
class MaxEffortConfig:
    """Applied effort is limited to ±`max_effort`."""

    type: Literal["max-effort"] = "max-effort"

    max_effort: float = attrs.field(validator=[finite, ge(0.0)])
    """Largest magnitude [N or N·m]."""


@attrs.frozen(kw_only=True)
class ActuatorConfig:
    """What every actuator with a drive has in common; its plugin adds the parameters of the drive."""

    joints: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Full-match regular expressions of joint labels, or of their last segments."""

    delay: DelayConfig | None = None
    """How late targets reach the drive."""

    clamping: tuple[MaxEffortConfig, ...] = ()
    """Limits on the effort, applied in this order."""


@attrs.frozen(kw_only=True, eq=False)
class Lanes:
    """The driven DOFs of all worlds, one lane each: world by world, and in the order of the model within a world."""

    labels: tuple[str, ...]
    """Labels of the joints of one world, once for each of their DOFs."""
    dofs: np.ndarray
    """Index of each lane into DOF-shaped arrays, shape [world_count, len(labels)]."""
    coordinates: np.ndarray
    """Index of each lane into coordinate-shaped arrays, shape [world_count, len(labels)]."""
    device: wp.Device

    def per_lane(self, value: float | Mapping[str, float], where: str) -> wp.array[float]:
        """Return a parameter for each lane, shape [world_count × len(labels)].

        Args:
            value: One value for all joints, or a table from patterns of joint labels to values.
            where: Name of the field, for errors.

        Raises:
            ConfigError: A pattern matches nothing, or a joint has no value, or two.
        """
        import warp as wp

        values = np.asarray(labels.lookup(value, self.labels, where), dtype=np.float32)
        return wp.array(np.tile(values, len(self.dofs)), dtype=float, device=self.device)


class DriveActuator(abc.ABC):
    """An actuator made of a Newton drive, with optional delay and clamping. A plugin adds `Config` and `build_drive`.

    Args:
        config: The plugin's configuration.
    """

    def __init__(self, config: ActuatorConfig) -> None:
        self.config = config

    @abc.abstractmethod
    def build_drive(self, lanes: Lanes) -> DriveBase:
        """Return the drive, with its parameters as arrays of one value per lane."""

    @hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder) -> None:
        """Resolve the joints, and switch off the drives that the asset gave them."""
        import newton

        joints = labels.match(self.config.joints, builder.joint_label, what="joint", where="joints")
        self._axes = [(joint, axis) for joint in joints for axis in range(_axis_count(builder, joint))]
        for joint, axis in self._axes:
            dof = builder.joint_qd_start[joint] + axis
            builder.joint_target_mode[dof] = int(newton.JointTargetMode.NONE)
            builder.joint_target_ke[dof] = builder.joint_target_kd[dof] = 0.0

    @hookimpl
    def bind(self, simulation: Simulation) -> None:
        """Build drive, clamping and delay over the joints of all worlds."""
        model = simulation.model
        joints = simulation.world_indices("joint", [joint for joint, _ in self._axes])
        axes = np.array([axis for _, axis in self._axes])
        lanes = Lanes(
            labels=tuple(model.joint_label[joint] for joint in joints[0]),
            dofs=on_host(model.joint_qd_start)[joints] + axes,
            coordinates=on_host(model.joint_q_start)[joints] + axes,
            device=model.device,
        )
        clamping = [_build_clamping(config, lanes) for config in self.config.clamping]
        self._group = _Group(model, lanes, self.build_drive(lanes), clamping, _build_delay(self.config.delay, lanes))
        self._states = simulation.double_buffer(self._group.state(), self._group.state())

    @hookimpl
    def apply_actuators(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Add the effort of one physics step to `control.joint_f`. May be recorded where the drive may."""
        self._group.step(state, control, self._states.current, self._states.next, dt)
        self._states.swap()

    @hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Forget the delayed targets, the drive's memory and the efforts of the masked worlds."""
        self._group.reset(self._states.current, world_mask)

    @property
    def is_capturable(self) -> bool:
        """Whether the drive may be recorded into a graph."""
        return self._group.drive.is_graphable()

    @property
    def joint_labels(self) -> tuple[str, ...]:
        """Labels of the driven joints of one world along the arrays' second axis, once for each DOF of a joint."""
        return self._group.lanes.labels

    @property
    def actuated_dofs(self) -> wp.array:
        """DOFs that this actuator drives, shape [world_count × DOFs]."""
        return self._group.dofs

    @property
    def position_targets(self) -> wp.array:
        """Targets [m or rad], shape [world_count, DOFs], to be written in place; at first the initial positions."""
        return self._group.position_targets

    @property
    def velocity_targets(self) -> wp.array:
        """Targets [m/s or rad/s], shape [world_count, DOFs], to be written in place; at first zero."""
        return self._group.velocity_targets

    @property
    def feedforward(self) -> wp.array:
        """Effort that the drive adds [N or N·m], shape [world_count, DOFs], to be written in place; at first zero."""
        return self._group.feedforward

    @property
    def computed_effort(self) -> wp.array:
        """Effort of the last physics step before clamping [N or N·m], shape [world_count, DOFs]."""
        return self._group.computed_effort

    @property
    def applied_effort(self) -> wp.array:
        """Effort of the last physics step as it reached the joints [N or N·m], shape [world_count, DOFs]."""
        return self._group.applied_effort


class _Group:
    """The arrays of one actuator over all worlds, and the order in which delay, drive and clamping work on them."""

    def __init__(
        self,
        model: newton.Model,
        lanes: Lanes,
        drive: DriveBase,
        clamping: Sequence[ClampingBase],
        delay: Delay | None,
    ) -> None:
        import warp as wp

        self.lanes, self.drive = lanes, drive
        self._clamping, self._delay, self._device = clamping, delay, lanes.device
        count = lanes.dofs.size
        for part in (drive, *clamping, *([] if delay is None else [delay])):
            part.finalize(lanes.device, count)
        initial = on_host(model.joint_q)[lanes.coordinates]
        self.position_targets = wp.array(initial, dtype=float, device=lanes.device)
        self.velocity_targets, self.feedforward, self.computed_effort = (
            wp.zeros(lanes.dofs.shape, dtype=float, device=lanes.device) for _ in range(3)
        )
        self.applied_effort = wp.zeros_like(self.computed_effort) if clamping else self.computed_effort
        self.dofs = wp.array(lanes.dofs.ravel(), dtype=int, device=lanes.device)
        self._dof_indices, self._coordinate_indices, self._lane_indices = (
            wp.array(indices.astype(np.uint32), dtype=wp.uint32, device=lanes.device)
            for indices in (lanes.dofs.ravel(), lanes.coordinates.ravel(), np.arange(count))
        )
        worlds = np.repeat(np.arange(len(lanes.dofs)), lanes.dofs.shape[1])
        self._world_of_lane = wp.array(worlds, dtype=int, device=lanes.device)
        self._lane_mask = wp.zeros(count, dtype=bool, device=lanes.device)

    def state(self) -> newton.actuators.Actuator.State:
        """Return what delay and drive carry from step to step, as at the start."""
        from newton.actuators import Actuator

        count = self.dofs.size
        return Actuator.State(
            delay_state=None if self._delay is None else self._delay.state(count, self._device),
            drive_state=self.drive.state(count, self._device) if self.drive.is_stateful() else None,
        )

    def step(self, state: newton.State, control: newton.Control, current: Any, following: Any, dt: float) -> None:
        """Run targets → delay → drive → clamping → `control.joint_f`, then note the targets for later steps."""
        import warp as wp

        from .kernels import add_efforts

        lane, device = self._lane_indices, self._device
        position, velocity = present(state.joint_q), present(state.joint_qd)
        at = (self._coordinate_indices, self._dof_indices)
        targets = self.position_targets.flatten(), self.velocity_targets.flatten(), self.feedforward.flatten()
        reached = targets
        if self._delay is not None:
            reached = self._delay.get_delayed_targets(*targets, lane, lane, current.delay_state)
        effort, applied = self.computed_effort.flatten(), self.applied_effort.flatten()
        memory = current.drive_state
        self.drive.compute(position, velocity, *reached, *at, lane, lane, effort, memory, dt, device=device)
        for clamp in self._clamping:
            clamp.modify_forces(effort, applied, position, velocity, *at, device=device)
            effort = applied
        wp.launch(add_efforts, self.dofs.size, [self._dof_indices, effort, control.joint_f], device=device)
        if self.drive.is_stateful():
            self.drive.update_state(memory, following.drive_state)
        if self._delay is not None:
            self._delay.update_state(*targets, lane, lane, current.delay_state, following.delay_state)

    def reset(self, state: newton.actuators.Actuator.State, world_mask: wp.array) -> None:
        """Put the lanes of the masked worlds back to the start."""
        import warp as wp

        from .kernels import mask_lanes, zero_lanes

        count, mask = self.dofs.size, self._lane_mask
        wp.launch(mask_lanes, count, [self._world_of_lane, world_mask, mask], device=self._device)
        for efforts in (self.computed_effort, self.applied_effort):
            wp.launch(zero_lanes, count, [mask, efforts.flatten()], device=self._device)
        state.reset(mask)


def _axis_count(builder: newton.ModelBuilder, joint: int) -> int:
    """Return the number of DOFs of a joint whose DOFs are independent coordinates.

    Raises:
        ConfigError: They are not, or there are none: free, distance, ball and fixed joints, rods and cables.
    """
    import newton

    kind = newton.JointType(builder.joint_type[joint])
    if kind not in (newton.JointType.REVOLUTE, newton.JointType.PRISMATIC, newton.JointType.D6):
        raise ConfigError(
            f"joints: joint {builder.joint_label[joint]!r} is a {kind.name.lower()} joint, which no drive can turn;"
            " choose revolute, prismatic or D6 joints"
        )
    return sum(builder.joint_dof_dim[joint])


def _build_clamping(config: MaxEffortConfig, lanes: Lanes) -> ClampingBase:
    from newton.actuators import ClampingMaxEffort

    return ClampingMaxEffort(max_effort=lanes.per_lane(config.max_effort, where="clamping.max_effort"))


def _build_delay(config: DelayConfig | None, lanes: Lanes) -> Delay | None:
    """Return Newton's delay; none for zero steps, which Newton refuses."""
    import warp as wp
    from newton.actuators import Delay

    if config is None or config.steps == 0:
        return None
    steps = wp.full(lanes.dofs.size, config.steps, dtype=int, device=lanes.device)
    return Delay(delay_steps=steps, max_delay=config.steps)
