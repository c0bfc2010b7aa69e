"""A quantity that a function of the user's measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from pippin.task.functions import FunctionConfig, UserFunction
from pippin.task.terms import Quantity

if TYPE_CHECKING:
    import newton
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["FunctionQuantity"]


def _are_distinct(instance: Any, attribute: attrs.Attribute[Any], value: tuple[str, ...]) -> None:
    if not value or len(set(value)) < len(value):
        raise ValueError(f"'labels' must be different names, at least one: {list(value)}")


@attrs.frozen(kw_only=True)
class FunctionQuantityConfig(FunctionConfig):
    """A quantity that a function `def name(context, out, **parameters)` measures: `out` has shape [worlds, labels]."""

    labels: tuple[str, ...] = attrs.field(default=("0",), validator=_are_distinct)
    """A name for each number of a world; `["x", "y", "z"]` for a vector."""

    unit: str = "1"
    """Unit of the numbers."""


class FunctionQuantity(Quantity):
    """The quantity `function`: what a function of the user's writes."""

    Config: ClassVar[type] = FunctionQuantityConfig
    unit = "its own"

    def __init__(self, config: FunctionQuantityConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.unit, self.is_capturable = config.unit, config.is_capturable
        self._function = UserFunction(config, context)

    @property
    def labels(self) -> Sequence[str]:
        """The labels of the configuration."""
        return self.config.labels

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Call the function."""
        self._function(out)
