"""Rewards from x, the numbers of a quantity minus a target."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import warp as wp
from numpy.typing import ArrayLike
from pippin import ConfigError, labels
from pippin.validators import range_ends

from pippin_task import QuantityReward, QuantityRewardConfig, TermContext

from . import kernels
from .configs import ExpConfig, InsideConfig, NormConfig, OutsideRangeConfig, ToleranceConfig


class Summed(QuantityReward):
    """A function of a sum over the components of x, which one kernel evaluates over all worlds.

    Args:
        lows: The first parameter of each component, in one row for all worlds or one for each; one number for all.
        highs: The second parameter, likewise.
        wraps: Whether x is turned into the range from -pi to pi first.
    """

    kernel: ClassVar[wp.Kernel]

    def __init__(
        self,
        config: QuantityRewardConfig,
        context: TermContext,
        lows: ArrayLike = 0.0,
        highs: ArrayLike = 0.0,
        *,
        wraps: bool = False,
    ) -> None:
        super().__init__(config, context)
        self._wraps = int(wraps)
        lows, highs = np.broadcast_arrays(lows, highs, np.empty((1, len(self.columns))))[:2]
        self._lows, self._highs = (wp.array(each, dtype=float, device=context.device) for each in (lows, highs))

    def evaluate(self, out: wp.array[float]) -> None:
        """Launch the kernel."""
        inputs = [self.values, self.columns, self.targets, self.target_columns, self._wraps, self._lows, self._highs]
        wp.launch(self.kernel, len(out), [*inputs, out], device=out.device)


class Value(Summed):
    """The reward `value`: the sum of x."""

    kernel = kernels.sum_values


class L1(Summed):
    """The reward `l1`: the sum of abs(x)."""

    kernel = kernels.sum_absolute

    def __init__(self, config: NormConfig, context: TermContext) -> None:
        super().__init__(config, context, *(config.clip or (-np.inf, np.inf)), wraps=config.wrap)


class L2(L1):
    """The reward `l2`: the sum of x²."""

    kernel = kernels.sum_squares


class Length(L1):
    """The reward `norm`: the square root of the sum of x²."""

    kernel = kernels.norm


class Exp(Summed):
    """The reward `exp`: exp(−sum of (x / std)²), or with their mean."""

    kernel = kernels.bell

    def __init__(self, config: ExpConfig, context: TermContext) -> None:
        quantity = context.quantity(config.of)
        chosen = [quantity.labels[column] for column in quantity.chosen_columns(config.axes)]
        stds = np.array(labels.lookup(config.std, chosen, "std", "number"))
        if config.mean:
            stds *= np.sqrt(len(chosen))
        super().__init__(config, context, highs=[stds], wraps=config.wrap)


class Tanh(Exp):
    """The reward `tanh`: 1 − tanh(square root of the sum of (x / std)²)."""

    kernel = kernels.peak


class InsideRange(Summed):
    """The reward `inside`: 1 if all x are in [low, high], else 0."""

    kernel = kernels.is_inside

    def __init__(self, config: InsideConfig, context: TermContext) -> None:
        super().__init__(config, context, *range_ends(config.low, config.high))


class BeyondRange(InsideRange):
    """The reward `beyond`: 1 if any x is outside [low, high], else 0."""

    kernel = kernels.is_beyond


class Tolerance(Summed):
    """The reward `tolerance`: 1 if x is in [low, high], and a function of how far it is from there, at the margin 0.1.

    Of several numbers, the length of their distances counts.
    """

    kernel = kernels.distance
    _forms = ("gaussian", "linear", "quadratic", "long-tail")

    def __init__(self, config: ToleranceConfig, context: TermContext) -> None:
        is_point = config.low is None and config.high is None
        super().__init__(config, context, *((0.0, 0.0) if is_point else range_ends(config.low, config.high)))
        self._course = [self._forms.index(config.form), config.margin]

    def evaluate(self, out: wp.array[float]) -> None:
        """Write the distance, and let the reward fall with it."""
        super().evaluate(out)
        wp.launch(kernels.fall, len(out), [*self._course, out], device=out.device)


class OutsideRange(Summed):
    """The reward `outside`: the sum of max(low − x, 0) + max(x − high, 0)."""

    kernel = kernels.sum_excess

    def __init__(self, config: OutsideRangeConfig, context: TermContext) -> None:
        if config.soft_limits is None:
            low, high = range_ends(config.low, config.high)
        else:
            quantity = context.quantity(config.of)
            if not hasattr(quantity, "limits"):
                raise ConfigError(f"soft_limits: {config.of.type!r} has no limits; give `low` and `high` instead")
            lowest, highest = quantity.limits("soft_limits")
            middle, half = 0.5 * (lowest + highest), 0.5 * config.soft_limits * (highest - lowest)
            low, high = middle - half, middle + half
        super().__init__(config, context, low, high)
