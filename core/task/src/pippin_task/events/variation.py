"""Parts that events share: their random draws, and ranges around built values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host
from pippin.labels import match
from pippin.matter import OF_PARTICLES, Matter

from pippin_task import Event, EventConfig, TermContext
from pippin_task.draws import launch_draws

from .configs import VariedConfig
from .kernels.model import VariationRanges, vary
from .kernels.states import StartRanges


def refuse_kinematic(context: TermContext, where: str, bodies: Any, why: str) -> None:
    """Refuse an event for bodies of which one is kinematic: no force moves it, and its mass counts nowhere."""
    model: Any = context.simulation.model
    indices = on_host(bodies).ravel()
    is_kinematic = on_host(model.body_flags)[indices] & int(newton.BodyFlags.KINEMATIC) != 0
    for body in indices[is_kinematic][:1]:
        raise ConfigError(f"{where}: {model.body_label[body]!r} is kinematic, {why}; choose others")


def chosen_objects(context: TermContext, patterns: Sequence[str], what: str) -> tuple[Matter, dict[str, int]]:
    """Return the matter of particles, and the objects of it that patterns choose, with a number each; claim `what`."""
    matter = Matter.of(context.simulation.model, *OF_PARTICLES)
    known = list(dict.fromkeys(matter.labels))
    chosen = [known[index] for index in match(patterns, known, "object with particles", "objects")]
    context.claim(what, chosen, "objects")
    return matter, {label: number for number, label in enumerate(chosen)}


class RandomEvent(Event):
    """An event whose kernel draws from random numbers of its own."""

    def __init__(self, config: EventConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.draws = context.draws()

    def _draw(self, kernel: Any, shape: Any, world_mask: wp.array[wp.bool], *inputs: Any) -> None:
        launch_draws(kernel, shape, self.draws, world_mask, *inputs)


class ModelEvent(RandomEvent):
    """An event that draws values around built ones, and puts the built ones back.

    A subclass sets the kernel, its shape, the ranges and the ranges of no change, and the arguments on both sides.
    """

    kernel: Any = vary
    shape: Any
    ranges: tuple[list[Any], list[Any]]
    before: Sequence[Any] = ()
    after: Sequence[Any]

    def _vary(self, values: Any, parts: Any, row: Any, column: Any) -> None:
        """Vary numbers of a table: world and part, row and column of each, which broadcast."""
        places = np.stack([each.ravel() for each in np.broadcast_arrays(*parts, row, column)], axis=1)
        self.shape = len(places)
        self.before = [wp.array(places.astype(np.int32), dtype=int, device=self.context.device)]
        table = values if values.ndim == 2 else values.reshape((-1, 1))
        self.after = [wp.clone(table), table]

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the values of the masked worlds."""
        self._draw(self.kernel, self.shape, world_mask, *self.before, *self.ranges[0], *self.after)

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """Put the built values of the masked worlds back."""
        inputs = [*self.before, *self.ranges[1], *self.after]
        launch_draws(self.kernel, self.shape, self.draws, world_mask, *inputs, counts=False)


def variation_ranges(
    scale: Sequence[float] = (1.0, 1.0), add: Sequence[float] = (0.0, 0.0), stride: int = 0, is_log: bool = False
) -> Any:
    """Return ranges as kernels take them, by default those of no change."""
    ranges: Any = VariationRanges()
    ranges.scale, ranges.add, ranges.stride, ranges.is_log = wp.vec2(*scale), wp.vec2(*add), stride, int(is_log)
    return ranges


def start_ranges(poses: Any, velocities: Any, std: float = 0.0) -> Any:
    """Return ranges of a start as kernels take them."""
    ranges: Any = StartRanges()
    ranges.low, ranges.high = (wp.spatial_vector(*end) for end in poses.ends)
    ranges.velocity_low, ranges.velocity_high = (wp.spatial_vector(*end) for end in velocities.ends)
    ranges.velocity_std = std
    return ranges


def _log(value: float) -> float:
    """Return the logarithm; for 0, a number whose exponential is 0."""
    return math.log(value) if value > 0.0 else -1e4


class Variation:
    """The ranges of random values around built ones."""

    def __init__(self, config: VariedConfig) -> None:
        self._key, self._scale, self._add = "add" if config.add[0] < 0.0 else "scale", config.scale, config.add
        if config.range is not None:
            self._key, self._scale, self._add = "range", (0.0, 0.0), config.range
        # Columns that tell draws apart: 0 for one draw in a world, 1 for one of each part.
        self._stride = 0 if config.shared else 1
        self._is_log = config.distribution == "log-uniform"

    @property
    def arguments(self) -> tuple[list[Any], list[Any]]:
        """The ranges as kernels take them, and those of no change."""
        scale, add = ([*map(_log, each)] if self._is_log else each for each in (self._scale, self._add))
        return [variation_ranges(scale, add, self._stride, self._is_log)], [variation_ranges()]

    def ends_of(self, built: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and the highest value that each built one can become."""
        scaled = built[..., None] * self._scale
        return scaled.min(axis=-1) + self._add[0], scaled.max(axis=-1) + self._add[1]

    def refuse_below_zero(self, built: np.ndarray, what: str, *, above: bool) -> None:
        """Refuse ranges that reach values below zero, or zero itself if values must be above it."""
        lowest = float(self.ends_of(built)[0].min(initial=float("inf")))
        if lowest < 0.0 or (above and lowest == 0.0):
            bound = "above 0" if above else "at least 0"
            raise ConfigError(f"{self._key}: the {what} can become {lowest:g}, and must be {bound}; narrow the range")
