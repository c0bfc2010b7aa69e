"""A height to follow, as a term of Pippin's tasks. Imports neither Warp nor Newton."""

import attrs
from pippin.task import Command, CommandConfig


@attrs.frozen(kw_only=True)
class HeightConfig(CommandConfig):
    """A target height of a body."""

    low: float
    """Lowest height [m]."""

    high: float = attrs.field()
    """Highest height [m]."""

    @high.validator
    def _is_a_range(self, attribute, value):
        if value < self.low:
            raise ValueError(f"'high' must be at least 'low' ({self.low:g}): {value:g}")


class CommandDemo(Command):
    """The command `demo`."""

    Config = HeightConfig
    unit = "m"
    labels = ("height",)

    def __init__(self, config, context):
        super().__init__(config, context)
        import warp as wp

        self.value = wp.zeros((context.world_count, 1), dtype=float, device=context.device)
        self._draws = context.draws()

    def resample(self, world_mask):
        """Draw the heights of the masked worlds."""
        import warp as wp

        from .kernels import draw_heights

        inputs = [world_mask, *self._draws.arguments, self.config.low, self.config.high, self.value]
        wp.launch(draw_heights, self.context.world_count, inputs, device=world_mask.device)
        self._draws.advance(world_mask)
