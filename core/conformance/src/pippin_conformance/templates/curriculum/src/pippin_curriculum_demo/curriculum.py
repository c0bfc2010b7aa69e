"""A range that widens, as a curriculum of Pippin's tasks."""

import warp as wp
from pippin_task import Curriculum


@wp.kernel
def count(finished: wp.array[wp.bool], ended: wp.array[int]):
    """Count the worlds whose episode ended."""
    if finished[wp.tid()]:
        wp.atomic_add(ended, 0, 1)


@wp.kernel
def widen(ended: wp.array[int], episodes: int, widest: float, x: wp.array[float], value: wp.array2d[float]):
    """A range from -speed to speed, which rises with the episodes."""
    world = wp.tid()
    speed = widest * wp.min(1.0, float(ended[0]) / float(episodes))
    if world == 0:
        x[0] = -speed
        x[1] = speed
    value[world, 0] = speed


class CurriculumDemo(Curriculum):
    """The curriculum `demo`: forward and backward speeds up to a limit that rises with the episodes."""

    labels = ("speed",)

    def __init__(self, config, context):
        super().__init__(config, context)
        self._x = context.changeable(f"commands.{config.command}", "command")["x"]
        self._ended = wp.zeros(1, dtype=int, device=context.device)
        self.value = wp.zeros((context.world_count, 1), dtype=float, device=context.device)

    def update(self, finished):
        """Count the episodes that ended, and write the range."""
        count_of_worlds, device = self.context.world_count, self.value.device
        wp.launch(count, count_of_worlds, [finished, self._ended], device=device)
        inputs = [self._ended, self.config.episodes, self.config.widest, self._x, self.value]
        wp.launch(widen, count_of_worlds, inputs, device=device)
