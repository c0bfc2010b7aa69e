"""A termination by the range of a quantity."""

from __future__ import annotations

import warp as wp
from pippin.task import TermContext, Termination
from pippin.validators import range_ends

from .config import RangeTerminationConfig
from .kernels import is_outside


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
