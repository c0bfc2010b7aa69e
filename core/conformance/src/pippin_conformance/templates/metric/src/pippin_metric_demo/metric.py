"""The largest height of an episode, as a metric of Pippin's tasks."""

import warp as wp
from pippin_task import Metric


@wp.kernel
def rise(
    body_q: wp.array[wp.transform],
    bodies: wp.array[int],
    is_new: wp.array[bool],
    highest: wp.array[float],
    out: wp.array[float],
):
    """Keep the height of a body if it is larger than before in the episode."""
    world = wp.tid()
    height = wp.transform_get_translation(body_q[bodies[world]])[2]
    if is_new[world] or height > highest[world]:
        highest[world] = height
        is_new[world] = False
    out[world] = highest[world]


@wp.kernel
def forget(world_mask: wp.array[bool], is_new: wp.array[bool]):
    """Begin anew in the masked worlds."""
    world = wp.tid()
    if world_mask[world]:
        is_new[world] = True


class MetricDemo(Metric):
    """The metric `demo`: the largest height of a body's origin in the episode so far [m]."""

    def __init__(self, config, context):
        super().__init__(config, context)
        count, device = context.world_count, context.device
        self._bodies = context.root(config.body)
        self._is_new = wp.full(count, value=True, dtype=bool, device=device)
        self._highest = wp.zeros(count, dtype=float, device=device)

    def reset(self, world_mask):
        """Let an episode begin in the masked worlds."""
        wp.launch(forget, len(self._is_new), [world_mask, self._is_new], device=world_mask.device)

    def evaluate(self, out):
        """Write the largest height so far of each world."""
        inputs = [self.context.simulation.state.body_q, self._bodies, self._is_new, self._highest]
        wp.launch(rise, len(out), inputs, [out], device=out.device)
