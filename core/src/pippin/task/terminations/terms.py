"""Terminations: by contact, and by the range of a quantity."""

from __future__ import annotations

import warp as wp
from pippin.task import TermContext, Termination
from pippin.validators import range_ends

from .config import ContactTerminationConfig, RangeTerminationConfig
from .kernels import is_outside, is_touching


class ContactTermination(Termination):
    """The termination `contact`: the net force on any body of a sensor is above a threshold, or not a number."""

    def __init__(self, config: ContactTerminationConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.net_forces(config.sensor, with_history=config.history)

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the forces with the threshold."""
        wp.launch(is_touching, len(out), [self._forces, self.config.threshold, out], device=out.device)


class RangeTermination(Termination):
    """The termination `outside`: any number is below `low`, above `high`, or not a number."""

    def __init__(self, config: RangeTerminationConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._quantity = context.quantity(config.of)
        self._columns = context.ints(self._quantity.chosen_columns(config.axes))

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the numbers with the range."""
        inputs = [self._quantity.values, self._columns, *range_ends(self.config.low, self.config.high), out]
        wp.launch(is_outside, len(out), inputs, device=out.device)
