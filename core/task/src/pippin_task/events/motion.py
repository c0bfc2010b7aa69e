"""Starts from a motion: the robot as the frame has it that the command has drawn, and random numbers added."""

from __future__ import annotations

import newton
import warp as wp
from pippin import ConfigError

from pippin_task import TermContext

from .configs import MotionStartConfig
from .kernels.states import start_joints, start_roots
from .variation import RandomEvent, start_ranges


class MotionStart(RandomEvent):
    """The event `motion`."""

    moves_bodies = True

    def __init__(self, config: MotionStartConfig, context: TermContext) -> None:
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
        inputs = [command.frames, command.joint_positions, command.joint_velocities, *joints]
        self._launch(start_joints, command.dofs.shape, world_mask, *inputs, state.joint_q, state.joint_qd)
        if command.roots is not None:
            inputs = [command.frames, command.places, command.body_poses, command.body_velocities, command.root]
            inputs += [command.roots, start_ranges(config, config.velocity), state.joint_q, state.joint_qd]
            self._launch(start_roots, self.context.world_count, world_mask, *inputs)
        self.draws.advance(world_mask)
