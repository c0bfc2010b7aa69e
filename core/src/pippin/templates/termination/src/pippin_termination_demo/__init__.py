"""The end of an episode below a height, as a term of Pippin's tasks. Imports neither Warp nor Newton."""

import attrs
from pippin.task import Termination


@attrs.frozen(kw_only=True)
class LowConfig:
    """The end of an episode if a body is too low."""

    height: float
    """Height of the body's origin below which the episode ends [m]."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""


class TerminationDemo(Termination):
    """The termination `demo`."""

    Config = LowConfig

    def __init__(self, config, context):
        super().__init__(config, context)
        self._bodies = context.root(config.body)

    def evaluate(self, out):
        """Write for each world whether its episode ends."""
        import warp as wp

        from .kernels import is_low

        inputs = [self.context.simulation.state.body_q, self._bodies, self.config.height]
        wp.launch(is_low, len(out), inputs, [out], device=out.device)
