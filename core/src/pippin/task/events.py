"""Events: random changes of the simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from .terms import Event, EventConfig

if TYPE_CHECKING:
    import newton
    import warp as wp

    from .place import TaskPlace

__all__ = ["Joints"]


@attrs.frozen(kw_only=True)
class JointsEventConfig(EventConfig):
    """Random initial positions and velocities of joints, around those of the file."""

    joints: tuple[str, ...] = (".*",)
    """Patterns of names of joints or axes; by default all that have one coordinate for each axis."""

    position: tuple[float, float] = (0.0, 0.0)
    """Range of what is added to the initial positions [rad, m]; limits of joints hold."""

    velocity: tuple[float, float] = (0.0, 0.0)
    """Range of what is added to the initial velocities [rad/s, m/s]."""


class Joints(Event):
    """The event `joints`."""

    Config: ClassVar[type] = JointsEventConfig
    writes_joints = True

    def __init__(self, config: JointsEventConfig, place: TaskPlace) -> None:
        super().__init__(config, place)
        import warp as wp

        self._joints = place.joints(config.joints)
        state: Any = place.simulation.state
        self._initial = wp.clone(state.joint_q), wp.clone(state.joint_qd)
        self.draws = place.draws()

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the coordinates of the masked worlds."""
        import warp as wp

        from .event_kernels import draw_joints

        joints, model, config = self._joints, self.place.simulation.model, self.config
        inputs = [world_mask, *self.draws.arguments, joints.coordinates, joints.dofs, *self._initial]
        inputs += [model.joint_limit_lower, model.joint_limit_upper]
        inputs += [wp.vec2(*config.position), wp.vec2(*config.velocity), state.joint_q, state.joint_qd]
        wp.launch(draw_joints, joints.dofs.shape, inputs, device=world_mask.device)
        self.draws.advance(world_mask)
