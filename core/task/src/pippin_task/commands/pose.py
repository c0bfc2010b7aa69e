"""Poses as commands."""

from __future__ import annotations

from typing import Any

import warp as wp

from pippin_task import Command, TermContext

from .configs import PoseCommandConfig
from .kernels import draw_poses


class PoseCommand(Command):
    """The command `pose`: a target pose, its position and a quaternion in the order x, y, z, w."""

    unit = "m, m, m, 1, 1, 1, 1"
    labels = ("x", "y", "z", "qx", "qy", "qz", "qw")

    def __init__(self, config: PoseCommandConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.value = wp.zeros((context.world_count, 7), dtype=float, device=context.device)
        names = ("x", "y", "z", "roll", "pitch", "yaw")
        ranges = [getattr(config, name) for name in names]
        self._ranges: Any = wp.array(ranges, dtype=float, ndim=2, device=context.device)
        # pyrefly: ignore[bad-assignment]
        self.numbers = {name: self._ranges[row] for row, name in enumerate(names)}
        self.draws = context.draws()

    def resample(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the poses of the masked worlds."""
        inputs = [world_mask, *self.draws.arguments, self._ranges, self.value]
        wp.launch(draw_poses, self.context.world_count, inputs, device=world_mask.device)
        self.draws.advance(world_mask)
