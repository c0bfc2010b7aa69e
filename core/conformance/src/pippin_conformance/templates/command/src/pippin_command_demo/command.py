"""A height to follow, as a term of Pippin's tasks."""

import warp as wp
from pippin.state import random_state
from pippin_task import Command


@wp.kernel
def draw_heights(
    world_mask: wp.array[bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    low: float,
    high: float,
    value: wp.array2d[float],
):
    """A uniform number in the masked worlds."""
    world = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        value[world, 0] = wp.randf(state, low, high)


class CommandDemo(Command):
    """The command `demo`."""

    unit = "m"
    labels = ("height",)

    def __init__(self, config, context):
        super().__init__(config, context)
        self.value = wp.zeros((context.world_count, 1), dtype=float, device=context.device)
        self._draws = context.draws()

    def resample(self, world_mask):
        """Draw the heights of the masked worlds."""
        inputs = [world_mask, *self._draws.arguments, self.config.low, self.config.high, self.value]
        wp.launch(draw_heights, self.context.world_count, inputs, device=world_mask.device)
        self._draws.advance(world_mask)
