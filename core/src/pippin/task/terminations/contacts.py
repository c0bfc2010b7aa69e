"""A termination by contact."""

from __future__ import annotations

import warp as wp
from pippin.task import TermContext, Termination

from .config import ContactTerminationConfig
from .kernels import is_touching


class ContactTermination(Termination):
    """The termination `contact`: the net force on any body of a sensor is above a threshold, or not a number."""

    def __init__(self, config: ContactTerminationConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.net_forces(config.sensor, with_history=config.history)

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the forces with the threshold."""
        wp.launch(is_touching, len(out), [self._forces, self.config.threshold, out], device=out.device)
