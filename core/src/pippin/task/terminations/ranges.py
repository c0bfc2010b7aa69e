"""A termination by the range of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs
from pippin.config.component import ComponentConfig
from pippin.task.bounds import ends_of, refuse_no_range
from pippin.task.terms import Termination

if TYPE_CHECKING:
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["Outside"]


@attrs.frozen(kw_only=True)
class OutsideConfig:
    """The end of an episode if any number of a quantity leaves a range."""

    of: Annotated[ComponentConfig, "quantity"]
    """The quantity: its name, or a table with its `type` and its keys."""

    axes: str | None = None
    """Components of a vector that count: some of `x`, `y`, `z`."""

    low: float | None = None
    """Lower bound, in the unit of the quantity; the episode ends below it."""

    high: float | None = None
    """Upper bound; the episode ends above it."""

    def __attrs_post_init__(self) -> None:
        refuse_no_range(self.low, self.high)


class Outside(Termination):
    """The termination `outside`: any number is below `low`, above `high`, or not a number."""

    Config: ClassVar[type] = OutsideConfig

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        self._quantity = context.quantity(config.of)
        self._columns = context.ints(self._quantity.chosen_columns(config.axes))

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the numbers with the range."""
        import warp as wp

        from .kernels import is_outside

        inputs = [self._quantity.values, self._columns, *ends_of(self.config.low, self.config.high), out]
        wp.launch(is_outside, len(out), inputs, device=out.device)
