"""A termination by the range of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs
from pippin.config.component import ComponentConfig
from pippin.task.bounds import ends_of, refuse_no_range
from pippin.task.columns import columns
from pippin.task.terms import Termination

if TYPE_CHECKING:
    import warp as wp
    from pippin.task.place import TaskPlace

__all__ = ["Outside"]


@attrs.frozen(kw_only=True)
class OutsideConfig:
    """The end of an episode if any number of a quantity leaves a range."""

    of: Annotated[ComponentConfig, "quantity"]
    """The quantity: its name, or a table with its `type` and its keys."""

    axes: str | None = None
    """Components of a vector that count: some of `x`, `y`, `z`."""

    low: float | None = None
    """Lowest value that goes on, in the unit of the quantity; by default any."""

    high: float | None = None
    """Highest value that goes on, likewise."""

    def __attrs_post_init__(self) -> None:
        refuse_no_range(self.low, self.high)


class Outside(Termination):
    """The termination `outside`: any number is below `low`, above `high`, or not a number."""

    Config: ClassVar[type] = OutsideConfig

    def __init__(self, config: Any, place: TaskPlace) -> None:
        super().__init__(config, place)
        self._measured = place.quantity(config.of)
        self._columns = place.ints(columns(self._measured.quantity.labels, config.axes, "axes"))

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the numbers with the range."""
        import warp as wp

        from .kernels import is_outside

        inputs = [self._measured.values, self._columns, *ends_of(self.config.low, self.config.high), out]
        wp.launch(is_outside, len(out), inputs, device=out.device)
