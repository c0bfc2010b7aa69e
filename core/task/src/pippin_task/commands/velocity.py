"""Velocity commands."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp

from pippin_task import Command, TermContext

from .configs import VelocityConfig
from .kernels import draw_velocities, hold_headings


class Velocity(Command):
    """The command `velocity`."""

    unit = "m/s, m/s, rad/s"
    labels = ("x", "y", "yaw")

    def __init__(self, config: VelocityConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._bodies = context.root(config.body)
        self.value = wp.zeros((context.world_count, 3), dtype=float, device=context.device)
        #: Heading of each world [rad], shape [worlds]; NaN if the command has none.
        self.headings = wp.zeros(context.world_count, dtype=float, device=context.device)
        ranges = [config.x, config.y, config.yaw, config.heading]
        self._ranges: Any = wp.array(ranges, dtype=float, ndim=2, device=context.device)
        # pyrefly: ignore[bad-assignment]
        self.numbers = {name: self._ranges[row] for row, name in enumerate(("x", "y", "yaw", "heading"))}
        self.draws = context.draws()

    def resample(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the targets of the masked worlds."""
        config = self.config
        shares = [config.heading_share, config.straight, config.least_straight, config.standing]
        inputs = [world_mask, *self.draws.arguments, self._ranges, *shares, self.value, self.headings]
        wp.launch(draw_velocities, self.context.world_count, inputs, device=world_mask.device)
        self.draws.advance(world_mask)

    def update(self, state: newton.State) -> None:
        """Turn towards the heading."""
        config = self.config
        if config.heading_stiffness is None:
            return
        inputs = [state.body_q, self._bodies, config.heading_stiffness, self._ranges, self.headings, self.value]
        wp.launch(hold_headings, self.context.world_count, inputs, device=self.value.device)
