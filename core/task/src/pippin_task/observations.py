"""Groups of observations: terms side by side, with noise, bounds, scale, delay and history."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import attrs
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host
from pippin.state import Draws

from pippin_task.config import ObservationConfig

from .context import TermContext
from .delays import Delays
from .episodes import EpisodeBuffers
from .kernels import BLOCK, compose
from .terms import Quantity


@attrs.frozen(eq=False)
class _Observation:
    label: str
    config: ObservationConfig
    quantity: Quantity
    columns: wp.array[int]
    draws: Draws
    delays: Delays
    readings: wp.array
    first: int


class ObservationGroup:
    """The observations of one group.

    Raises:
        ConfigError: A term is wrong; names the group and the term.
    """

    def __init__(
        self, name: str, terms: Mapping[str, ObservationConfig], context: Callable[[str], TermContext]
    ) -> None:
        labels: list[str] = []
        self._terms: list[_Observation] = []
        for label, config in terms.items():
            own = context(f"observations.{name}.{label}")
            try:
                quantity = own.quantity(config.of)
                columns = quantity.chosen_columns(config.axes)
            except ConfigError as error:
                raise ConfigError(*(f"observations.{name}.{label}.{fault}" for fault in error.faults)) from error
            count = config.history + config.delay[1]
            readings = wp.zeros((own.world_count, count, len(columns)), dtype=float, device=own.device)
            shared = self._terms[0].draws if self._terms else None
            draws = own.simulation.seeds.draws(f"task.{own.name}/", shared)
            delays, chosen = Delays(config.delay, own), own.ints(columns)
            self._terms.append(_Observation(label, config, quantity, chosen, draws, delays, readings, len(labels)))
            labels += [f"{label}/{quantity.labels[column]}" for column in columns] * config.history
        #: A name for each number.
        self.labels = tuple(labels)
        own = context(f"observations.{name}")
        #: The observations of the present state, and of the last end of an episode, shape [worlds, width].
        self.values, self.final = (
            wp.zeros((own.world_count, len(labels)), dtype=float, device=own.device) for _ in range(2)
        )

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        """The shape of the numbers of a world if the group is one image, else None."""
        if len(self._terms) != 1 or self._terms[0].config.history > 1:
            return None
        return getattr(self._terms[0].quantity, "image_shape", None)

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest number, for spaces: those of an image as it is, else none."""
        if self.image_shape is None:
            return -math.inf, math.inf
        config = self._terms[0].config
        is_plain = config.clip is None and config.scale > 0.0 and not (config.noise or config.noise_std)
        return (0.0, config.scale) if is_plain else (-math.inf, math.inf)

    @property
    def parts(self) -> list[tuple[str, Quantity, list[int], int]]:
        """Label, quantity, chosen columns and number of readings of each term."""
        return [
            (term.label, term.quantity, on_host(term.columns).tolist(), term.config.history) for term in self._terms
        ]

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the delays of the masked worlds; mask of shape [worlds + 1]."""
        for term in self._terms:
            term.delays.draw(world_mask)

    def show(self, episodes: EpisodeBuffers) -> None:
        """Write `values` from the measured quantities, in the worlds with a new state; the next noise is a new one."""
        self._compose(self.values, episodes.due, episodes, keeps=True)
        if any(term.config.noise or term.config.noise_std for term in self._terms):
            self._terms[0].draws.advance(episodes.due)  # the terms share the counts

    def show_final(self, episodes: EpisodeBuffers) -> None:
        """Write `final` from the measured quantities, in the worlds whose episode ended in this step."""
        self._compose(self.final, episodes.finished, episodes, keeps=False)

    def _compose(self, out: wp.array, world_mask: wp.array, episodes: EpisodeBuffers, *, keeps: bool) -> None:
        for term in self._terms:
            config = term.config
            bounds = wp.vec2(*((-math.inf, math.inf) if config.clip is None else config.clip))
            inputs = [term.quantity.values, term.columns, wp.vec2(config.noise, config.noise_std), bounds]
            inputs += [config.scale, *term.draws.arguments, term.delays.steps, config.history]
            inputs += [term.readings, world_mask, episodes.new, int(keeps), term.first, out]
            blocks = -(-len(term.columns) // int(BLOCK))
            wp.launch(compose, (len(out), blocks), inputs, device=out.device)
