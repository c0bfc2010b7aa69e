"""Events that change the state: random starts of joints and roots, and pushes."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp
from pippin.task import TermContext

from .config import JointStartConfig, RootPushConfig, RootStartConfig
from .kernels.states import draw_joints, draw_roots, push_roots
from .variation import RandomEvent, refuse_kinematic


class JointStart(RandomEvent):
    """The event `joints`."""

    moves_bodies = True

    def __init__(self, config: JointStartConfig, context: TermContext) -> None:
        super().__init__(config, context)
        labels, self._coordinates, self._dofs = context.joints(config.joints)
        context.claim("initial state", labels, "joints")
        state: Any = context.simulation.state
        self._initial = wp.clone(state.joint_q), wp.clone(state.joint_qd)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the coordinates of the masked worlds."""
        model, config = self.context.simulation.model, self.config
        inputs = [self._coordinates, self._dofs, *self._initial]
        inputs += [model.joint_limit_lower, model.joint_limit_upper, wp.vec2(*config.scale)]
        inputs += [wp.vec2(*config.position), wp.vec2(*config.velocity)]
        inputs += [wp.vec2(config.position_std, config.velocity_std), state.joint_q, state.joint_qd]
        self._draw(draw_joints, self._dofs.shape, world_mask, *inputs)


class RootStart(RandomEvent):
    """The event `root`."""

    moves_bodies = True

    def __init__(self, config: RootStartConfig, context: TermContext) -> None:
        super().__init__(config, context)
        label, self._starts = context.free_joint(config.body)
        context.claim("initial state", [label], "body")
        state: Any = context.simulation.state
        self._initial = wp.clone(state.joint_q), wp.clone(state.joint_qd)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw pose and velocity of the body in the masked worlds."""
        config = self.config
        ends = [wp.spatial_vector(*end) for ranges in (config, config.velocity) for end in ranges.ends]
        inputs = [self._starts, *self._initial, *ends, config.velocity_std]
        inputs += [state.joint_q, state.joint_qd]
        self._draw(draw_roots, self.context.world_count, world_mask, *inputs)


class RootPush(RandomEvent):
    """The event `push`."""

    moves_bodies = True

    def __init__(self, config: RootPushConfig, context: TermContext) -> None:
        super().__init__(config, context)
        _, self._starts = context.free_joint(config.body)
        refuse_kinematic(context, "body", context.root(config.body), "so nothing would slow it after a push")

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Add to the velocity of the body in the masked worlds."""
        ends = [wp.spatial_vector(*end) for end in self.config.ends]
        self._draw(push_roots, self.context.world_count, world_mask, self._starts, *ends, state.joint_qd)
