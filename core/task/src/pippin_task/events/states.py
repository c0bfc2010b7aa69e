"""Events that change the state: random starts of joints, roots and objects of matter, and pushes."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host, present
from pippin.labels import match
from pippin.matter import OF_PARTICLES, Matter

from pippin_task import TermContext

from .configs import JointPointConfig, JointStartConfig, ObjectStartConfig, RootPushConfig, RootStartConfig
from .kernels.states import draw_joints, draw_objects, draw_points, draw_roots, push_roots
from .variation import RandomEvent, refuse_kinematic, start_ranges


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


class JointPoint(RandomEvent):
    """The event `joint-point`."""

    moves_bodies = True

    def __init__(self, config: JointPointConfig, context: TermContext) -> None:
        super().__init__(config, context)
        found = [context.joints((pattern,)) for pattern in config.joints]
        for pattern, (labels, _, _) in zip(config.joints, found, strict=True):
            if len(labels) != 1:
                raise ConfigError(f"joints: {pattern!r} matches {len(labels)} axes: {', '.join(labels)}; choose one")
        context.claim("initial state", [each[0][0] for each in found], "joints")
        (_, *first), (_, *second) = found
        self._coordinates, self._dofs = (
            context.ints(np.concatenate([on_host(one), on_host(other)], axis=1).ravel())
            for one, other in zip(first, second, strict=True)
        )

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the points of the masked worlds."""
        config = self.config
        ranges = [
            wp.vec2(*each) for each in (config.centre, config.first, config.second, config.distance or (0.0, np.inf))
        ]
        inputs = [self._coordinates, self._dofs, *ranges, state.joint_q, state.joint_qd]
        self._draw(draw_points, self.context.world_count, world_mask, *inputs)


class RootStart(RandomEvent):
    """The event `root`."""

    moves_bodies = True

    def __init__(self, config: RootStartConfig, context: TermContext) -> None:
        super().__init__(config, context)
        label, self._starts = context.free_joint(config.body)
        context.claim("initial state", [label], "body")
        self._shifts = context.shifts()
        state: Any = context.simulation.state
        self._initial = wp.clone(state.joint_q), wp.clone(state.joint_qd)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw pose and velocity of the body in the masked worlds."""
        config = self.config
        ranges = start_ranges(config, config.velocity, config.velocity_std)
        inputs = [self._starts, *self._initial, self._shifts, ranges, state.joint_q, state.joint_qd]
        self._draw(draw_roots, self.context.world_count, world_mask, *inputs)


class ObjectStart(RandomEvent):
    """The event `objects`."""

    def __init__(self, config: ObjectStartConfig, context: TermContext) -> None:
        super().__init__(config, context)
        model, state = context.simulation.model, context.simulation.state
        matter = Matter.of(model, *OF_PARTICLES)
        names = list(dict.fromkeys(matter.labels))
        chosen = [names[index] for index in match(config.objects, names, "object with particles", "objects")]
        context.claim("initial state", chosen, "objects")
        numbers = {label: number for number, label in enumerate(chosen)}
        rows = [row for row, label in enumerate(matter.labels) if label in numbers and matter.worlds[row] >= 0]
        owners = np.repeat(rows, matter.counts[rows])
        particles = np.concatenate([matter.starts[row] + np.arange(matter.counts[row]) for row in rows])
        start = present(state.particle_q).numpy()
        means = {row: start[matter.starts[row] :][: matter.counts[row]].mean(axis=0, dtype=float) for row in rows}
        self._initial = wp.clone(present(state.particle_q)), wp.clone(present(state.particle_qd))
        self._particles, self._worlds = context.ints(particles), context.ints(matter.worlds[owners])
        self._numbers = context.ints(numbers[matter.labels[row]] for row in owners)
        self._shifts = context.shifts()
        self._centres = wp.array([means[row] for row in owners.tolist()], dtype=wp.vec3, device=context.device)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw pose and velocity of the objects in the masked worlds."""
        config = self.config
        ranges = start_ranges(config, config.velocity)
        inputs = [self._particles, self._worlds, self._numbers, self._centres, *self._initial, self._shifts, ranges]
        self._draw(draw_objects, len(self._particles), world_mask, *inputs, state.particle_q, state.particle_qd)


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
