"""Motions by formulas: a sine, a constant rate, and random values."""

from __future__ import annotations

import numpy as np
import warp as wp
from pippin import Binding, ConfigError, hookimpl

from .configs import Value, numbers_of
from .kernels import draw_values, follow_law
from .motion import Motion


class Law(Motion):
    """A sum of a mean, a constant rate and a sine, as far as the table has them."""

    def build(self, binding: Binding, element_count: int) -> int:
        """Copy the numbers of each component to the device."""
        names = ("mean", "rate", "amplitude", "frequency", "phase")
        rows = together({name: getattr(self.config, name, 0.0) for name in names})
        self._laws = wp.array(rows, dtype=float, device=binding.simulation.device)
        return len(rows)

    def evaluate(self) -> None:
        """Evaluate the sum."""
        inputs = [self.times, self._laws, self.values, self.rates]
        wp.launch(follow_law, self.values.shape, inputs, device=self.times.device)


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
        self._draws = host.seeds.draws(binding.label)
        self._draws.counts.fill_(1)  # as after a reset, which counts
        return len(rows)

    @hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Draw other values than before, from the start of the masked worlds on; mask of shape [world_count + 1]."""
        self._draws.advance(world_mask)

    def evaluate(self) -> None:
        """Draw, in each period."""
        inputs = [self.times, self._period, *self._draws.arguments, self._bounds, self.values]
        wp.launch(draw_values, len(self.times), inputs, device=self.times.device)


def together(values: dict[str, Value]) -> np.ndarray:
    """Return the components of several values as rows, shape [components, values]; a number counts for each of them."""
    parts = {name: numbers_of(value) for name, value in values.items()}
    width = max(map(len, parts.values()))
    for name, part in parts.items():
        if len(part) not in (1, width):
            raise ConfigError(f"{name}: has {len(part)} components, and others have {width}; give it one or {width}")
    return np.stack([np.broadcast_to(part, width) for part in parts.values()], axis=1)
