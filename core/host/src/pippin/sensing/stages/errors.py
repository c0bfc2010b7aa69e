"""Noise, bias, drift, quantisation and latency, by world and seed."""

from __future__ import annotations

import math

import warp as wp
from pippin import ConfigError
from pippin.sensing import OutputLanes, Stage
from pippin.validators import MOST_READINGS

from .configs import BiasConfig, DriftConfig, LatencyConfig, NoiseConfig, QuantisationConfig
from .kernels import add_error, add_noise, draw_bias, exchange_readings, forget_readings, quantise, wander, zero_numbers


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
        self.lanes.launch(wander, world_mask, decay, spread, self.error, values)

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


class Latency(Stage):
    """A ring of the last readings of each world."""

    is_arithmetic = False

    def __init__(self, config: LatencyConfig, lanes: OutputLanes) -> None:
        super().__init__(config, lanes)
        self._delay = _readings(config, lanes.interval)
        self.ring = wp.zeros((self._delay + 1, *lanes.shape), dtype=float, device=lanes.device)
        self.written = wp.zeros(lanes.shape, dtype=int, device=lanes.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Forget the readings."""
        self.lanes.launch(forget_readings, world_mask, self.written)

    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Keep the values, and give those of an earlier reading."""
        self.lanes.launch(exchange_readings, world_mask, self._delay, self.written, self.ring, values)


def _readings(config: LatencyConfig, interval: float) -> int:
    if config.time is None:
        return config.readings or 0
    count = round(config.time / interval)
    if count < 1 or abs(count * interval - config.time) > 1e-6 * config.time:
        raise ConfigError(
            f"time: {config.time:g} s is not a whole multiple of the sensor's period of {interval:g} s; write"
            f" {max(count, 1) * interval:g}, or change the sensor's period"
        )
    if count > MOST_READINGS:
        raise ConfigError(f"time: {config.time:g} s are {count} readings, more than {MOST_READINGS}; use less")
    return count
