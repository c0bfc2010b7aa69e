"""Motions by formulas: a sine, a constant rate, and random values."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from pippin.binding import Binding
from pippin.errors import ConfigError

from .kernels import advance_evenly, draw_values, oscillate
from .motion import Motion
from .motion_configs import Value, numbers_of


class Sine(Motion):
    """A sine."""

    def build(self, binding: Binding, element_count: int) -> int:
        """Copy the numbers of each component to the device."""
        config = self.config
        values = {"mean": config.mean, "amplitude": config.amplitude, "frequency": config.frequency}
        rows = together({**values, "phase": config.phase})
        self._laws = wp.array(rows, dtype=float, device=binding.simulation.device)
        return len(rows)

    def evaluate(self) -> None:
        """Take the sine."""
        wp.launch(
            oscillate, self.values.shape, [self.times, self._laws, self.values, self.rates], device=self.times.device
        )


class ConstantRate(Motion):
    """A constant rate."""

    def build(self, binding: Binding, element_count: int) -> int:
        """Copy the rates to the device."""
        rates = numbers_of(self.config.rate)
        self._speeds = wp.array(rates, dtype=float, device=binding.simulation.device)
        return len(rates)

    def evaluate(self) -> None:
        """Multiply by the time."""
        inputs = [self.times, self._speeds, self.values, self.rates]
        wp.launch(advance_evenly, self.values.shape, inputs, device=self.times.device)


class RandomMotion(Motion):
    """Uniform random values of each component."""

    def build(self, binding: Binding, element_count: int) -> int:
        """Copy the bounds to the device; where a value is a number, each element has its own."""
        config, host = self.config, binding.simulation
        rows = together({"low": config.low, "high": config.high})
        if len(rows) == 1:
            rows = np.repeat(rows, element_count if config.is_scalar else 3, axis=0)
        self._bounds = wp.array(rows, dtype=float, device=host.device)
        self._period = config.period or host.control_dt
        self._resets = host.reset_counts
        self._key, self._seeds, self._first, _ = host.seeds.draws(binding.label).arguments
        return len(rows)

    def evaluate(self) -> None:
        """Draw, in each period."""
        inputs: list[Any] = [self.times, self._period, self._resets, self._key, self._seeds, self._first]
        wp.launch(draw_values, len(self.times), [*inputs, self._bounds, self.values], device=self.times.device)


def together(values: dict[str, Value]) -> np.ndarray:
    """Return the components of several values as rows, shape [components, values]; a number counts for each of them.

    Raises:
        ConfigError: Two of them have different numbers of components.
    """
    parts = {name: numbers_of(value) for name, value in values.items()}
    width = max(map(len, parts.values()))
    for name, part in parts.items():
        if len(part) not in (1, width):
            raise ConfigError(f"{name}: has {len(part)} components, and others have {width}; give it one or {width}")
    return np.stack([np.broadcast_to(part, width) for part in parts.values()], axis=1)
