"""Laws: rewards from x, the numbers of a quantity minus a target."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from attrs.validators import ge, le, optional
from pippin import labels
from pippin.errors import ConfigError
from pippin.task.columns import columns
from pippin.task.terms import Law, LawConfig
from pippin.validators import finite

if TYPE_CHECKING:
    import numpy as np
    import warp as wp
    from pippin.task.place import TaskPlace

__all__ = ["L1", "L2", "Exp", "Inside", "Outside", "Value"]


def _is_a_range(instance: Any, attribute: attrs.Attribute[Any], value: tuple[float, float] | None) -> None:
    if value is not None and not value[0] < value[1]:
        raise ValueError(f"'clip' must be a range [low, high] with low < high: {list(value)}")


def _is_positive(instance: Any, attribute: attrs.Attribute[Any], value: float | Mapping[str, float]) -> None:
    for std in value.values() if isinstance(value, Mapping) else [value]:
        if not std > 0.0:
            raise ValueError(f"'std' must be > 0: {std}")


@attrs.frozen(kw_only=True)
class NormConfig(LawConfig):
    """A law over the size of x."""

    wrap: bool = False
    """Whether x is an angle that is turned into the range from -pi to pi first."""

    clip: tuple[float, float] | None = attrs.field(default=None, validator=_is_a_range)
    """Lowest and highest x; others are clipped."""


@attrs.frozen(kw_only=True)
class ExpConfig(LawConfig):
    """A law that is 1 if x is zero, and falls to 0 with the square of x."""

    std: float | Mapping[str, float] = attrs.field(validator=_is_positive)
    """Size of x [unit of the quantity] at which the law has fallen to 1/e: for all numbers, or by pattern of their
    labels."""

    wrap: bool = False
    """Whether x is an angle that is turned into the range from -pi to pi first."""


@attrs.frozen(kw_only=True)
class InsideConfig(LawConfig):
    """A law about a range."""

    low: float = -math.inf
    """Lowest x of the range, in the unit of the quantity."""

    high: float = math.inf
    """Highest x of the range, likewise."""

    def __attrs_post_init__(self) -> None:
        _refuse_no_range(self.low, self.high)


@attrs.frozen(kw_only=True)
class OutsideConfig(LawConfig):
    """A law about a range, which is given; or which is a share of the joints' limits."""

    low: float = -math.inf
    """Lowest x of the range, in the unit of the quantity."""

    high: float = math.inf
    """Highest x of the range, likewise."""

    soft_limits: float | None = attrs.field(default=None, validator=optional([finite, ge(0.0), le(1.0)]))
    """Share of the range of each joint's limits, about its middle, in place of `low` and `high`; for
    `joint-positions`."""

    def __attrs_post_init__(self) -> None:
        if self.soft_limits is None:
            _refuse_no_range(self.low, self.high)
        elif math.isfinite(self.low) or math.isfinite(self.high) or self.target is not None:
            raise ValueError("'soft_limits' stands in place of 'low', 'high' and 'target'; leave those out")


class KernelLaw(Law):
    """A law that one kernel evaluates over all worlds."""

    Config: ClassVar[type] = LawConfig

    @property
    def kernel(self) -> Any:
        """The kernel, whose arguments are `values`, `columns`, `targets`, `target_columns`, the parameters, `out`."""
        raise NotImplementedError

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
    def _labels(self) -> list[str]:
        """The labels of the chosen numbers."""
        told = self.place.quantity(self.config.of).quantity.labels
        return [told[column] for column in columns(told, self.config.axes, "axes")]


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

    def __init__(self, config: ExpConfig, place: TaskPlace) -> None:
        super().__init__(config, place)
        import warp as wp

        stds = labels.lookup(config.std, self._labels, "std", "number")
        self._stds: Any = wp.array(stds, dtype=float, device=place.device)
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
        return [config.low, config.high]


class Outside(KernelLaw):
    """The law `outside`: the sum of max(low − x, 0) + max(x − high, 0)."""

    Config: ClassVar[type] = OutsideConfig

    def __init__(self, config: OutsideConfig, place: TaskPlace) -> None:
        super().__init__(config, place)
        import numpy as np
        import warp as wp

        count = len(self._labels)
        low, high = np.full((1, count), config.low), np.full((1, count), config.high)
        if config.soft_limits is not None:
            low, high = self._soft_limits(config.soft_limits)
        self._bounds = [wp.array(each.astype(np.float32), dtype=float, device=place.device) for each in (low, high)]

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
        quantity: Any = self.place.quantity(self.config.of).quantity
        if not hasattr(quantity, "limits"):
            raise ConfigError(f"soft_limits: {self.config.of.type!r} has no limits; give `low` and `high` instead")
        low, high = quantity.limits("soft_limits")
        middle, half = 0.5 * (low + high), 0.5 * share * (high - low)
        return middle - half, middle + half


def _refuse_no_range(low: float, high: float) -> None:
    """Reject a range that is empty, or has no end.

    Raises:
        ValueError: The bounds make no range.
    """
    if not low < high or (math.isinf(low) and math.isinf(high)):
        raise ValueError(f"'low' and 'high' must make a range, got {low} and {high}; give at least one")
