"""The end of an episode below a height, as a term of Pippin's tasks."""

import warp as wp
from pippin_task import Termination


@wp.kernel
def is_low(body_q: wp.array[wp.transform], bodies: wp.array[int], height: float, out: wp.array[bool]):
    """Whether the origin of a body is below a height."""
    world = wp.tid()
    out[world] = wp.transform_get_translation(body_q[bodies[world]])[2] < height


class TerminationDemo(Termination):
    """The termination `demo`."""

    def __init__(self, config, context):
        super().__init__(config, context)
        self._bodies = context.root(config.body)

    def evaluate(self, out):
        """Write for each world whether its episode ends."""
        inputs = [self.context.simulation.state.body_q, self._bodies, self.config.height]
        wp.launch(is_low, len(out), inputs, [out], device=out.device)
