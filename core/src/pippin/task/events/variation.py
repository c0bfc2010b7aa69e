"""Parts that events share: their random draws, and ranges around built values."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.task import Event, EventConfig, TermContext

from .config import VariedConfig


class RandomEvent(Event):
    """An event whose kernel draws from random numbers of its own."""

    def __init__(self, config: EventConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.draws = context.draws()

    def _draw(self, kernel: Any, shape: Any, world_mask: wp.array[wp.bool], *inputs: Any) -> None:
        """Launch a kernel, whose first arguments are the mask and the draws, and count the draw."""
        wp.launch(kernel, shape, [world_mask, *self.draws.arguments, *inputs], device=world_mask.device)
        self.draws.advance(world_mask)


class Variation:
    """The ranges of random values around built ones."""

    def __init__(self, config: VariedConfig) -> None:
        is_set = config.range is not None
        self._scale = (0.0, 0.0) if is_set else config.scale
        self._add = config.add if config.range is None else config.range
        # Columns that tell draws apart: 0 for one draw in a world, 1 for one of each part.
        self._stride = 0 if config.shared else 1

    @property
    def arguments(self) -> list[Any]:
        """The ranges and the stride, as kernels take them."""
        return [wp.vec2(*self._scale), wp.vec2(*self._add), self._stride]

    def refuse_below_zero(self, built: np.ndarray, what: str, *, above: bool) -> None:
        """Refuse ranges that reach values below zero, or zero itself if values must be above it."""
        lowest = float((built[..., None] * self._scale).min(initial=float("inf"))) + self._add[0]
        if lowest < 0.0 or (above and lowest == 0.0):
            bound = "above 0" if above else "at least 0"
            raise ConfigError(f"the {what} can become {lowest:g}, and must be {bound}; choose narrower ranges")
