"""Events that change the state: random starts of joints and roots, and pushes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
from pippin.task.ranges import AxesRanges, Range, ranged
from pippin.task.terms import Event, EventConfig
from pippin.validators import non_negative

if TYPE_CHECKING:
    import newton
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["Joints", "Push", "Root"]


@attrs.frozen(kw_only=True)
class JointsEventConfig(EventConfig):
    """Random initial positions and velocities of joints, around those of the file.

    Position = scale × initial one + uniform + normal number; likewise the velocity. Limits of joints hold.
    """

    when: Literal["reset"] = "reset"
    """Time of the event."""

    joints: tuple[str, ...] = (".*",)
    """Patterns of names of joints or axes; by default all that have one coordinate for each axis."""

    scale: Range = ranged((1.0, 1.0))
    """Range of the factor of the initial positions."""

    position: Range = ranged()
    """Range of the uniform number that is added to positions [rad, m]."""

    position_std: float = attrs.field(default=0.0, validator=non_negative)
    """Standard deviation of the normal number that is added to positions [rad, m]."""

    velocity: Range = ranged()
    """Range of the uniform number that is added to velocities [rad/s, m/s]."""

    velocity_std: float = attrs.field(default=0.0, validator=non_negative)
    """Standard deviation of the normal number that is added to velocities [rad/s, m/s]."""


class Joints(Event):
    """The event `joints`."""

    Config: ClassVar[type] = JointsEventConfig
    moves_bodies = True

    def __init__(self, config: JointsEventConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import warp as wp

        labels, self._coordinates, self._dofs = context.joints(config.joints)
        context.claim("initial state", labels, "joints")
        state: Any = context.simulation.state
        self._initial = wp.clone(state.joint_q), wp.clone(state.joint_qd)
        self.draws = context.draws()

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the coordinates of the masked worlds."""
        import warp as wp

        from .kernels.states import draw_joints

        model, config = self.context.simulation.model, self.config
        inputs = [world_mask, *self.draws.arguments, self._coordinates, self._dofs, *self._initial]
        inputs += [model.joint_limit_lower, model.joint_limit_upper, wp.vec2(*config.scale)]
        inputs += [wp.vec2(*config.position), wp.vec2(*config.velocity)]
        inputs += [wp.vec2(config.position_std, config.velocity_std), state.joint_q, state.joint_qd]
        wp.launch(draw_joints, self._dofs.shape, inputs, device=world_mask.device)
        self.draws.advance(world_mask)


@attrs.frozen(kw_only=True)
class RootEventConfig(AxesRanges, EventConfig):
    """Random initial pose and velocity of a free body, around those of the file.

    The ranges are of what is added to the position [m], and of the turn about the body's origin [rad]: roll, then
    pitch, then yaw.
    """

    when: Literal["reset"] = "reset"
    """Time of the event."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""

    velocity: AxesRanges = attrs.field(factory=AxesRanges)
    """Ranges of what is added to the velocity of the centre of mass [m/s], and to the angular velocity [rad/s]."""

    velocity_std: float = attrs.field(default=0.0, validator=non_negative)
    """Standard deviation of a normal number that is added to each component of both velocities [m/s, rad/s]."""


class Root(Event):
    """The event `root`."""

    Config: ClassVar[type] = RootEventConfig
    moves_bodies = True

    def __init__(self, config: RootEventConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import warp as wp

        label, self._starts = context.free_joint(config.body)
        context.claim("initial state", [label], "body")
        state: Any = context.simulation.state
        self._initial = wp.clone(state.joint_q), wp.clone(state.joint_qd)
        self.draws = context.draws()

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw pose and velocity of the body in the masked worlds."""
        import warp as wp

        from .kernels.states import draw_roots

        config = self.config
        ends = [wp.spatial_vector(*end) for ranges in (config, config.velocity) for end in ranges.ends]
        inputs = [world_mask, *self.draws.arguments, self._starts, *self._initial, *ends, config.velocity_std]
        inputs += [state.joint_q, state.joint_qd]
        wp.launch(draw_roots, self.context.world_count, inputs, device=world_mask.device)
        self.draws.advance(world_mask)


@attrs.frozen(kw_only=True)
class PushConfig(AxesRanges, EventConfig):
    """A random push from time to time: a jump of the velocity of a free body.

    The ranges are of what is added to the velocity of the centre of mass [m/s], and to the angular velocity [rad/s].
    """

    when: Literal["interval"] = "interval"
    """Time of the event."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""


class Push(Event):
    """The event `push`."""

    Config: ClassVar[type] = PushConfig
    moves_bodies = True

    def __init__(self, config: PushConfig, context: TermContext) -> None:
        super().__init__(config, context)
        _, self._starts = context.free_joint(config.body)
        self.draws = context.draws()

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Add to the velocity of the body in the masked worlds."""
        import warp as wp

        from .kernels.states import push_roots

        ends = [wp.spatial_vector(*end) for end in self.config.ends]
        inputs = [world_mask, *self.draws.arguments, self._starts, *ends, state.joint_qd]
        wp.launch(push_roots, self.context.world_count, inputs, device=world_mask.device)
        self.draws.advance(world_mask)
