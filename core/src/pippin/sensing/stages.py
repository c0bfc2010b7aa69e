"""Stages with random or rounded values: noise, bias, drift and quantisation, by world and seed."""

from __future__ import annotations

import math

import warp as wp

from .kernels import add_error, add_noise, draw_bias, quantise, wander, zero_numbers
from .lanes import OutputLanes
from .stage import Stage
from .stage_configs import BiasConfig, DriftConfig, NoiseConfig, QuantisationConfig


class Noise(Stage):
    """Normal deviates, one added to each value."""

    config: NoiseConfig

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Add a deviate to each value."""
        self.lanes.launch(add_noise, world_mask, self.config.std, values)


class Bias(Stage):
    """Constant errors, one added to each value."""

    config: BiasConfig

    def __init__(self, config: BiasConfig, lanes: OutputLanes) -> None:
        super().__init__(config, lanes)
        self.bias = lanes.zeros()
        self.reset(lanes.everywhere)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the error of the masked worlds."""
        self.lanes.launch(draw_bias, world_mask, self.config.mean, self.config.std, self.bias)

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Add the error."""
        self.lanes.launch(add_error, world_mask, self.bias, values)


class Drift(Stage):
    """Slowly changing errors, one added to each value."""

    config: DriftConfig

    def __init__(self, config: DriftConfig, lanes: OutputLanes) -> None:
        super().__init__(config, lanes)
        self.error = lanes.zeros()

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Start from zero."""
        self.lanes.launch(zero_numbers, world_mask, self.error)

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Let the error wander for `dt`, and add it."""
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


class Quantisation(Stage):
    """Rounding of values to a grid."""

    config: QuantisationConfig

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Round each value."""
        self.lanes.launch(quantise, world_mask, self.config.step, values)
