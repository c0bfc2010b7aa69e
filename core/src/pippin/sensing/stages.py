"""Stages, which change clean values before they are read: noise, bias, drift and quantisation, by world and seed.

Other packages register their own stages in the group of entry points `pippin.stages`.
"""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Any

import attrs
from attrs.validators import optional
from pippin.validators import finite, non_negative, positive

if TYPE_CHECKING:
    import warp as wp

    from .lanes import OutputLanes

__all__ = [
    "Bias",
    "BiasConfig",
    "Drift",
    "DriftConfig",
    "Noise",
    "NoiseConfig",
    "Quantisation",
    "QuantisationConfig",
    "Stage",
    "StageConfig",
]


@attrs.frozen(kw_only=True)
class StageConfig:
    """Settings of every stage."""

    output: str
    """Name of the output that the stage changes."""


class Stage(abc.ABC):
    """A change of one output's values. A plugin adds `Config` and `apply`, and `reset` if it has memory.

    The memory is in Warp arrays among the attributes, so that checkpoints and graphs find it.

    Args:
        config: The plugin's configuration.
        lanes: The numbers of the output, by world, and their random numbers.
    """

    Config: type
    is_arithmetic: bool = True
    """Whether the stage computes new values; rotations are refused then, because their components depend on each
    other."""

    def __init__(self, config: Any, lanes: OutputLanes) -> None:
        self.config = config
        self.lanes = lanes

    @abc.abstractmethod
    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Change the values of the masked worlds in place. May be recorded.

        Args:
            values: Shape [worlds, numbers of a world].
            world_mask: Shape [world_count + 1].
            dt: Time since the last reading [s]; zero if a reset caused this reading.
        """

    def reset(self, world_mask: wp.array[wp.bool]) -> None:  # noqa: B027 - most stages remember nothing
        """Clear the memory of the masked worlds, or draw it anew."""


@attrs.frozen(kw_only=True)
class NoiseConfig(StageConfig):
    """White noise: each reading has an error drawn anew from a normal distribution."""

    std: float = attrs.field(validator=non_negative)
    """Standard deviation [unit of the output]."""


class Noise(Stage):
    """Normal deviates, one added to each value."""

    Config = NoiseConfig

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Add a deviate to each value."""
        from .kernels import add_noise

        self.lanes.launch(add_noise, world_mask, self.config.std, values)


@attrs.frozen(kw_only=True)
class BiasConfig(StageConfig):
    """A constant error: the same in each reading of an episode, drawn anew for each number when a world is reset."""

    mean: float = attrs.field(default=0.0, validator=finite)
    """Mean of the distribution [unit of the output]."""

    std: float = attrs.field(default=0.0, validator=non_negative)
    """Standard deviation [unit of the output]; if it is zero, the error is `mean`."""


class Bias(Stage):
    """Constant errors, one added to each value."""

    Config = BiasConfig

    def __init__(self, config: Any, lanes: OutputLanes) -> None:
        super().__init__(config, lanes)
        self.bias = lanes.zeros()
        self.reset(lanes.everywhere)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the error of the masked worlds."""
        from .kernels import draw_bias

        self.lanes.launch(draw_bias, world_mask, self.config.mean, self.config.std, self.bias)

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Add the error."""
        from .kernels import add_error

        self.lanes.launch(add_error, world_mask, self.bias, values)


@attrs.frozen(kw_only=True)
class DriftConfig(StageConfig):
    """An error that wanders: zero after a reset, then a random walk, which may decay towards zero.

    Over a time t its variance grows to `rate`² t; with a time constant τ it tends to `rate`² τ / 2
    (a Gauss-Markov process).
    """

    rate: float = attrs.field(validator=non_negative)
    """Standard deviation after one second of a random walk [unit of the output / √s]."""

    time_constant: float | None = attrs.field(default=None, validator=optional(positive))
    """Time in which an error decays to 1/e [s]; by default errors do not decay."""


class Drift(Stage):
    """Slowly changing errors, one added to each value."""

    Config = DriftConfig

    def __init__(self, config: Any, lanes: OutputLanes) -> None:
        super().__init__(config, lanes)
        self.error = lanes.zeros()

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Start from zero."""
        from .kernels import zero_numbers

        self.lanes.launch(zero_numbers, world_mask, self.error)

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Let the error wander for `dt`, and add it."""
        from .kernels import add_error, wander

        decay, spread = self._over(dt)
        self.lanes.launch(wander, world_mask, decay, spread, self.error)
        self.lanes.launch(add_error, world_mask, self.error, values)

    def _over(self, dt: float) -> tuple[float, float]:
        """Return the decay factor of an error over `dt`, and the standard deviation of the error added in that time."""
        constant = self.config.time_constant
        if constant is None:
            return 1.0, self.config.rate * math.sqrt(dt)
        return math.exp(-dt / constant), self.config.rate * math.sqrt(
            -math.expm1(-2.0 * dt / constant) * constant / 2.0
        )


@attrs.frozen(kw_only=True)
class QuantisationConfig(StageConfig):
    """Finite resolution: each value is rounded to the nearest whole multiple of a step."""

    step: float = attrs.field(validator=positive)
    """Resolution [unit of the output]."""


class Quantisation(Stage):
    """Rounding of values to a grid."""

    Config = QuantisationConfig

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Round each value."""
        from .kernels import quantise

        self.lanes.launch(quantise, world_mask, self.config.step, values)
