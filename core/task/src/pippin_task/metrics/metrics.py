"""Metrics over x, the numbers of a quantity minus a target."""

from __future__ import annotations

import math
from typing import Any

import warp as wp
from pippin import ConfigError

from pippin_task import Metric, TermContext
from pippin_task.terms import DifferenceConfig

from . import kernels
from .configs import WithinConfig

_PART = 1e-6
"""Part of a control step that is an error of rounding."""


class QuantityMetric(Metric):
    """A metric that counts steps of the episode, and may sum numbers."""

    def __init__(self, config: DifferenceConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._inputs = context.difference(config.of, config.axes, config.target)
        self._count = wp.zeros(context.world_count, dtype=int, device=context.device)
        self._total: Any = wp.zeros(context.world_count, dtype=wp.float64, device=context.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Begin anew in the masked worlds."""
        inputs = [world_mask, self._count, self._total]
        wp.launch(kernels.forget, len(self._count), inputs, device=world_mask.device)


class Within(QuantityMetric):
    """The metric `within`: 1 if the square root of the sum of x² is at most `limit` for `hold`, else 0."""

    is_flag = True

    def __init__(self, config: WithinConfig, context: TermContext) -> None:
        super().__init__(config, context)
        host = context.simulation
        steps = max(1, math.ceil(config.hold / host.control_dt - _PART))
        length = None if host.config.task is None else host.config.task.episode_length
        if length is not None and steps > round(length / host.control_dt):
            raise ConfigError(
                f"hold: {config.hold:g} s are longer than an episode of {length:g} s, so that none succeeds; use less"
            )
        self._limits = [config.limit, steps, int(config.latch)]

    def evaluate(self, out: wp.array[float]) -> None:
        """Count the steps in a row that x is small."""
        wp.launch(kernels.hold_within, len(out), [*self._inputs, *self._limits, self._count, out], device=out.device)


class Mean(QuantityMetric):
    """The metric `mean`: the mean of the square root of the sum of x² over the control steps of the episode."""

    def evaluate(self, out: wp.array[float]) -> None:
        """Add the size of x; a state that diverged does not count."""
        inputs = [*self._inputs, int(self.config.form == "mean-absolute"), self._count, self._total, out]
        wp.launch(kernels.average, len(out), inputs, device=out.device)
