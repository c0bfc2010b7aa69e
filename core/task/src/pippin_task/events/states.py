"""Events that change the state: random starts, from the file or from a motion, pushes, and forces over some time."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host, present

from pippin_task import TermContext
from pippin_task.draws import launch_draws

from . import configs
from .kernels import states as kernels
from .variation import RandomEvent, chosen_objects, refuse_kinematic, start_ranges


class JointStart(RandomEvent):
    """The event `joints`."""

    moves_bodies = True

    def __init__(self, config: configs.JointStartConfig, context: TermContext) -> None:
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
        self._draw(kernels.draw_joints, self._dofs.shape, world_mask, *inputs)


class JointPoint(RandomEvent):
    """The event `joint-point`."""

    moves_bodies = True

    def __init__(self, config: configs.JointPointConfig, context: TermContext) -> None:
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
        self._draw(kernels.draw_points, self.context.world_count, world_mask, *inputs)


class RootStart(RandomEvent):
    """The event `root`."""

    moves_bodies = True

    def __init__(self, config: configs.RootStartConfig, context: TermContext) -> None:
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
        self._draw(kernels.draw_roots, self.context.world_count, world_mask, *inputs)


class ObjectStart(RandomEvent):
    """The event `objects`."""

    def __init__(self, config: configs.ObjectStartConfig, context: TermContext) -> None:
        super().__init__(config, context)
        state = context.simulation.state
        matter, numbers = chosen_objects(context, config.objects, "initial state")
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
        self._draw(kernels.draw_objects, len(self._particles), world_mask, *inputs, state.particle_q, state.particle_qd)


class RootPush(RandomEvent):
    """The event `push`."""

    moves_bodies = True

    def __init__(self, config: configs.RootPushConfig, context: TermContext) -> None:
        super().__init__(config, context)
        _, self._starts = context.free_joint(config.body)
        refuse_kinematic(context, "body", context.root(config.body), "so nothing would slow it after a push")

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Add to the velocity of the body in the masked worlds."""
        ends = [wp.spatial_vector(*end) for end in self.config.ends]
        self._draw(kernels.push_roots, self.context.world_count, world_mask, self._starts, *ends, state.joint_qd)


class MotionStart(RandomEvent):
    """The event `motion`."""

    moves_bodies = True

    def __init__(self, config: configs.MotionStartConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._command = command = context.command(config.command, "command")
        if getattr(command, "clip", None) is None:
            raise ConfigError(f"command: {config.command!r} follows no motion; choose one of type 'motion'")
        context.claim("initial state", command.joint_labels, "command")
        if command.roots is not None:
            context.claim("initial state", [command.body_labels[command.root]], "command")

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Let the command draw the frames of the masked worlds, and write roots and joints."""
        command, config, model = self._command, self.config, self.context.simulation.model
        command.draw(world_mask)
        joints = [command.coordinates, command.dofs, model.joint_limit_lower, model.joint_limit_upper]
        joints += [config.soft_limits, wp.vec2(*config.joint_positions), wp.vec2(*config.joint_velocities)]
        inputs = [command.arrays, *joints, state.joint_q, state.joint_qd]
        launch_draws(kernels.start_joints, command.dofs.shape, self.draws, world_mask, *inputs, counts=False)
        if command.roots is not None:
            inputs = [command.arrays, command.roots, start_ranges(config, config.velocity)]
            inputs += [state.joint_q, state.joint_qd]
            launch_draws(kernels.start_roots, self.context.world_count, self.draws, world_mask, *inputs, counts=False)
        self.draws.advance(world_mask)


_FOR_EVER = float(np.finfo(np.float32).max)


class Wrench(RandomEvent):
    """The event `wrench`."""

    def __init__(self, config: configs.WrenchConfig, context: TermContext) -> None:
        super().__init__(config, context)
        _, self._bodies = context.bodies(config.bodies)
        refuse_kinematic(context, "bodies", self._bodies, "so no force moves it")
        centres: Any = context.simulation.model.body_com
        self._points = centres
        if config.offset is not None:
            self._points = wp.full(centres.shape, wp.vec3(*config.offset), wp.vec3, device=context.device)
        shape: Any = self._bodies.shape
        #: Force and torque at the height of a blow [N, N·m], shape [worlds, bodies].
        self.wrenches: Any = wp.zeros(shape, dtype=wp.spatial_vectorf, device=context.device)
        #: Length of the blow, and the time since it began [s], shape [worlds, bodies].
        self.durations, self.elapsed = (wp.zeros(shape, dtype=float, device=context.device) for _ in range(2))

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw forces, torques and lengths of blows in the masked worlds."""
        config = self.config
        ends = [
            wp.spatial_vector(*force, *torque)
            for force, torque in zip(config.force.ends, config.torque.ends, strict=True)
        ]
        duration = wp.vec2(*(config.duration or (_FOR_EVER, _FOR_EVER)))
        inputs = [*ends, duration, self.wrenches, self.durations, self.elapsed]
        self._draw(kernels.draw_wrenches, self._bodies.shape, world_mask, *inputs)

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """End the blows in the masked worlds."""
        wp.launch(kernels.clear_wrenches, self._bodies.shape, [world_mask, self.wrenches], device=world_mask.device)

    def add_forces(self, state: newton.State, dt: float) -> None:
        """Add the mean wrench of the substep."""
        inputs = [self._bodies, self._points, self.context.simulation.model.body_com, state.body_q, self.wrenches]
        inputs += [self.durations, int(self.config.form == "half-sine"), dt, self.elapsed, state.body_f]
        wp.launch(kernels.add_wrenches, self._bodies.shape, inputs, device=self._bodies.device)
