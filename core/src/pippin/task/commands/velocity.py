"""Velocity commands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import attrs
from attrs.validators import optional
from pippin.task.ranges import Range, ranged
from pippin.task.terms import Command, CommandConfig
from pippin.validators import fraction, positive

if TYPE_CHECKING:
    import newton
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["Velocity"]


@attrs.frozen(kw_only=True)
class VelocityConfig(CommandConfig):
    """A target velocity of a body: forward, to the left, and about the vertical.

    With a heading, the yaw rate turns the body towards it: yaw rate = stiffness × angle to the heading, within `yaw`.
    """

    x: Range = ranged()
    """Range of the forward speed [m/s]."""

    y: Range = ranged()
    """Range of the speed to the left [m/s]."""

    yaw: Range = ranged()
    """Range of the yaw rate [rad/s]."""

    heading: Range = ranged((-math.pi, math.pi))
    """Range of the heading [rad], if `heading_stiffness` is given."""

    heading_stiffness: float | None = attrs.field(default=None, validator=optional(positive))
    """Yaw rate for each radian from the heading [1/s]; by default there is no heading, and the yaw rate is drawn."""

    standing: float = attrs.field(default=0.0, validator=fraction)
    """Probability of a standing command."""

    body: str | None = None
    """Pattern of the name of the body whose x axis is the heading; by default the first body of a world."""


class Velocity(Command):
    """The command `velocity`."""

    Config: ClassVar[type] = VelocityConfig
    unit = "m/s, m/s, rad/s"

    def __init__(self, config: VelocityConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import warp as wp

        self._bodies = context.root(config.body)
        self.value = wp.zeros((context.world_count, 3), dtype=float, device=context.device)
        #: Heading of each world [rad], shape [worlds]; NaN if the command is to stand still.
        self.headings = wp.zeros(context.world_count, dtype=float, device=context.device)
        self.draws = context.draws()

    @property
    def labels(self) -> tuple[str, ...]:
        """Forward speed, speed to the left, and yaw rate."""
        return ("x", "y", "yaw")

    def resample(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the targets of the masked worlds."""
        import warp as wp

        from .kernels import draw_velocities

        config = self.config
        ranges = [wp.vec2(*each) for each in (config.x, config.y, config.yaw, config.heading)]
        inputs = [world_mask, *self.draws.arguments, *ranges, config.standing, self.value, self.headings]
        wp.launch(draw_velocities, self.context.world_count, inputs, device=world_mask.device)
        self.draws.advance(world_mask)

    def update(self, state: newton.State) -> None:
        """Turn towards the heading."""
        import warp as wp

        from .kernels import hold_headings

        config = self.config
        if config.heading_stiffness is None:
            return
        inputs = [state.body_q, self._bodies, config.heading_stiffness, wp.vec2(*config.yaw), self.headings, self.value]
        wp.launch(hold_headings, self.context.world_count, inputs, device=self.value.device)
