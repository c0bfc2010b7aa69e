"""Quantities of parts of the scene: the mean position and the mean velocity of particles or bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import newton
import warp as wp
from pippin import ConfigError

from pippin_task import Quantity, TermContext

from .configs import PartsConfig
from .kernels import mean_place, mean_speed, mean_vector


class OfParts(Quantity):
    """A vector of some particles or bodies in each world."""

    is_differentiable = True
    labels: Sequence[str] = ("x", "y", "z")

    sources: ClassVar[Mapping[str, tuple[str, Any]]]
    """Array of the state and kernel of its mean, by what the parts are."""

    def __init__(self, config: PartsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        objects = context.simulation.services.scene_objects
        what, found = objects.particles_or_bodies(config.parts, "parts")
        rows = objects.by_world(what, found)
        empty = (rows[:, :1] < 0).ravel().nonzero()[0]
        if len(empty):
            raise ConfigError(f"parts: world {empty[0]} has none of {config.parts.of!r}; choose what all worlds have")
        self._source, self._kernel = self.sources[what]
        self._rows = wp.array(rows, dtype=int, device=context.device)
        self._shares = wp.array(1.0 / (rows >= 0).sum(axis=1), dtype=float, device=context.device)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the means."""
        inputs = [getattr(state, self._source), self._rows, self._shares, out]
        wp.launch(self._kernel, out.shape, inputs, device=out.device)


class PartsPosition(OfParts):
    """The quantity `parts-position`: the mean of the positions, p; of bodies that of their origins."""

    unit = "m"
    sources: ClassVar = {"particle": ("particle_q", mean_vector), "body": ("body_q", mean_place)}


class PartsVelocity(OfParts):
    """The quantity `parts-velocity`: the mean of the velocities, v; of bodies that of their centres of mass."""

    unit = "m/s"
    sources: ClassVar = {"particle": ("particle_qd", mean_vector), "body": ("body_qd", mean_speed)}
