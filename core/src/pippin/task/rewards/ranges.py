"""Laws about a range of x."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from attrs.validators import ge, le, optional
from pippin.errors import ConfigError
from pippin.task.bounds import ends_of, refuse_no_range
from pippin.task.terms import QuantityRewardConfig
from pippin.validators import finite

from .laws import KernelLaw

if TYPE_CHECKING:
    import numpy as np
    from pippin.task.context import TermContext

__all__ = ["Inside", "Outside"]


@attrs.frozen(kw_only=True)
class InsideConfig(QuantityRewardConfig):
    """A law about a range."""

    low: float | None = None
    """Lowest x of the range, in the unit of the quantity; by default any."""

    high: float | None = None
    """Highest x of the range, likewise."""

    def __attrs_post_init__(self) -> None:
        refuse_no_range(self.low, self.high)


@attrs.frozen(kw_only=True)
class OutsideConfig(QuantityRewardConfig):
    """A law about a range, which is given; or which is a share of the joints' limits."""

    low: float | None = None
    """Lowest x of the range, in the unit of the quantity; by default any."""

    high: float | None = None
    """Highest x of the range, likewise."""

    soft_limits: float | None = attrs.field(default=None, validator=optional([finite, ge(0.0), le(1.0)]))
    """Share of the range of each joint's limits, about its middle, in place of `low` and `high`; for
    `joint-positions`."""

    def __attrs_post_init__(self) -> None:
        if self.soft_limits is None:
            refuse_no_range(self.low, self.high)
        elif any(each is not None for each in (self.low, self.high, self.target)):
            raise ValueError("'soft_limits' stands in place of 'low', 'high' and 'target'; leave those out")


class Inside(KernelLaw):
    """The law `inside`: 1 if all x are in [low, high], else 0."""

    Config: ClassVar[type] = InsideConfig

    @property
    def kernel(self) -> Any:
        """The kernel."""
        from .kernels import is_inside

        return is_inside

    @property
    def parameters(self) -> list[Any]:
        """The range."""
        config: Any = self.config
        return list(ends_of(config.low, config.high))


class Outside(KernelLaw):
    """The law `outside`: the sum of max(low − x, 0) + max(x − high, 0)."""

    Config: ClassVar[type] = OutsideConfig

    def __init__(self, config: OutsideConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import numpy as np
        import warp as wp

        count = len(self.labels)
        low, high = (np.full((1, count), end) for end in ends_of(config.low, config.high))
        if config.soft_limits is not None:
            low, high = self._soft_limits(config.soft_limits)
        self._bounds = [wp.array(each.astype(np.float32), dtype=float, device=context.device) for each in (low, high)]

    @property
    def kernel(self) -> Any:
        """The kernel."""
        from .kernels import sum_excess

        return sum_excess

    @property
    def parameters(self) -> list[Any]:
        """The bounds."""
        return self._bounds

    def _soft_limits(self, share: float) -> tuple[np.ndarray, np.ndarray]:
        quantity: Any = self.context.quantity(self.config.of)
        if not hasattr(quantity, "limits"):
            raise ConfigError(f"soft_limits: {self.config.of.type!r} has no limits; give `low` and `high` instead")
        low, high = quantity.limits("soft_limits")
        middle, half = 0.5 * (low + high), 0.5 * share * (high - low)
        return middle - half, middle + half
