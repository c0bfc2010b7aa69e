"""A random spin at the beginning of each episode, as a term of Pippin's tasks."""

import warp as wp
from pippin.state import random_state
from pippin_task import Event


@wp.kernel
def spin(
    world_mask: wp.array[bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    starts: wp.array2d[int],
    rate: float,
    joint_qd: wp.array[float],
):
    """Add a uniform rate about z to the free joint whose velocities begin at `starts[world, 1]`."""
    world = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        joint_qd[starts[world, 1] + 5] += wp.randf(state, -rate, rate)


class EventDemo(Event):
    """The event `demo`."""

    moves_bodies = True

    def __init__(self, config, context):
        super().__init__(config, context)
        _, self._starts = context.free_joint(config.body)
        self._draws = context.draws()

    def apply(self, state, world_mask):
        """Add to the angular velocity in the masked worlds."""
        inputs = [world_mask, *self._draws.arguments, self._starts, self.config.rate, state.joint_qd]
        wp.launch(spin, self.context.world_count, inputs, device=world_mask.device)
        self._draws.advance(world_mask)
