"""Laws: rewards from x, the numbers of a quantity minus a target."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from pippin import labels
from pippin.task.terms import QuantityReward, QuantityRewardConfig

if TYPE_CHECKING:
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["L1", "L2", "Exp", "KernelLaw", "Value"]


def _is_a_range(instance: Any, attribute: attrs.Attribute[Any], value: tuple[float, float] | None) -> None:
    if value is not None and not value[0] < value[1]:
        raise ValueError(f"'clip' must be a range [low, high] with low < high: {list(value)}")


def _is_positive(instance: Any, attribute: attrs.Attribute[Any], value: float | Mapping[str, float]) -> None:
    for std in value.values() if isinstance(value, Mapping) else [value]:
        if not std > 0.0:
            raise ValueError(f"'std' must be > 0: {std}")


@attrs.frozen(kw_only=True)
class NormConfig(QuantityRewardConfig):
    """A law over the size of x."""

    wrap: bool = False
    """Whether x is an angle that is turned into the range from -pi to pi first."""

    clip: tuple[float, float] | None = attrs.field(default=None, validator=_is_a_range)
    """Lowest and highest x; others are clipped."""


@attrs.frozen(kw_only=True)
class ExpConfig(QuantityRewardConfig):
    """A law that is 1 if x is zero, and falls to 0 with the square of x."""

    std: float | Mapping[str, float] = attrs.field(validator=_is_positive)
    """Size of x [unit of the quantity] at which the law has fallen to 1/e: for all numbers, or by pattern of their
    labels."""

    wrap: bool = False
    """Whether x is an angle that is turned into the range from -pi to pi first."""


class KernelLaw(QuantityReward):
    """A law that one kernel evaluates over all worlds."""

    Config: ClassVar[type] = QuantityRewardConfig

    @property
    @abc.abstractmethod
    def kernel(self) -> Any:
        """The kernel, whose arguments are `values`, `columns`, `targets`, `target_columns`, the parameters, `out`."""

    @property
    def parameters(self) -> list[Any]:
        """More arguments of the kernel."""
        return []

    def evaluate(self, out: wp.array[float]) -> None:
        """Launch the kernel."""
        import warp as wp

        inputs = [self.values, self.columns, self.targets, self.target_columns, *self.parameters, out]
        wp.launch(self.kernel, len(out), inputs, device=out.device)

    @property
    def labels(self) -> list[str]:
        """The labels of the chosen numbers."""
        quantity = self.context.quantity(self.config.of)
        return [quantity.labels[column] for column in quantity.chosen_columns(self.config.axes)]


class Value(KernelLaw):
    """The law `value`: the sum of x."""

    @property
    def kernel(self) -> Any:
        """The kernel."""
        from .kernels import sum_values

        return sum_values


class L1(KernelLaw):
    """The law `l1`: the sum of abs(x)."""

    Config: ClassVar[type] = NormConfig

    @property
    def kernel(self) -> Any:
        """The kernel."""
        from .kernels import sum_absolute

        return sum_absolute

    @property
    def parameters(self) -> list[Any]:
        """Whether x wraps, and its bounds."""
        import warp as wp

        config: Any = self.config
        return [int(config.wrap), wp.vec2(*(config.clip or (-math.inf, math.inf)))]


class L2(L1):
    """The law `l2`: the sum of x²."""

    @property
    def kernel(self) -> Any:
        """The kernel."""
        from .kernels import sum_squares

        return sum_squares


class Exp(KernelLaw):
    """The law `exp`: exp(−sum of (x / std)²)."""

    Config: ClassVar[type] = ExpConfig

    def __init__(self, config: ExpConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import warp as wp

        stds = labels.lookup(config.std, self.labels, "std", "number")
        self._stds: Any = wp.array(stds, dtype=float, device=context.device)
        self._wraps = int(config.wrap)

    @property
    def kernel(self) -> Any:
        """The kernel."""
        from .kernels import bell

        return bell

    @property
    def parameters(self) -> list[Any]:
        """Whether x wraps, and the standard deviations."""
        return [self._wraps, self._stds]
