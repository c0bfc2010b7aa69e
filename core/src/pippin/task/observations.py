"""Groups of observations: terms side by side, with noise, bounds, scale and history."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import attrs
import warp as wp
from pippin.config.task import ObservationConfig
from pippin.errors import ConfigError
from pippin.state.draws import Draws

from .columns import columns
from .kernels import compose
from .place import Measured, TaskPlace

__all__ = ["Group"]


@attrs.frozen(eq=False)
class _Term:
    config: ObservationConfig
    measured: Measured
    columns: wp.array[int]
    draws: Draws
    history: wp.array
    first: int


class Group:
    """The observations of one group.

    Args:
        name: Name of the group.
        terms: Its terms by label, in order.
        place: Returns the place of a term by its name.

    Raises:
        ConfigError: A term is wrong; names the group and the term.
    """

    def __init__(self, name: str, terms: Mapping[str, ObservationConfig], place: Callable[[str], TaskPlace]) -> None:
        labels: list[str] = []
        self._terms: list[_Term] = []
        for label, config in terms.items():
            here = place(f"observations.{name}.{label}")
            try:
                measured = here.quantity(config.of)
                chosen = columns(measured.quantity.labels, config.axes, "axes")
            except ConfigError as error:
                raise ConfigError(*(f"observations.{name}.{label}.{fault}" for fault in error.faults)) from error
            shape = (here.world_count, config.history, len(chosen))
            history = wp.zeros(shape, dtype=float, device=here.device)
            self._terms.append(_Term(config, measured, here.ints(chosen), here.draws(), history, len(labels)))
            told = [f"{label}/{measured.quantity.labels[column]}" for column in chosen]
            labels += told * config.history
        here = place(f"observations.{name}")
        #: A name for each number.
        self.labels = tuple(labels)
        #: The observations of the present state, and of the state before resets, shape [worlds, width].
        self.values, self.final = (
            wp.zeros((here.world_count, len(labels)), dtype=float, device=here.device) for _ in range(2)
        )
        self._worlds = here.worlds

    @property
    def measured(self) -> list[Measured]:
        """The quantities of the terms."""
        return [term.measured for term in self._terms]

    def compose(self, out: wp.array, is_due: wp.array[wp.bool], is_new: wp.array[wp.bool], *, keeps: bool) -> None:
        """Write the group from the measured quantities.

        Args:
            out: Where to write, shape [worlds, width].
            is_due: The worlds with a new state, shape [worlds]; the others keep what is written.
            is_new: The worlds that start an episode.
            keeps: Whether the readings join the history, and the next noise is another one.
        """
        for term in self._terms:
            config = term.config
            bounds = wp.vec2(*((-math.inf, math.inf) if config.clip is None else config.clip))
            inputs = [term.measured.values, term.columns, wp.vec2(config.noise, config.noise_std), bounds]
            inputs += [config.scale, *term.draws.arguments]
            inputs += [term.history, is_due, is_new, int(keeps), term.first, out]
            shape = (self._worlds.count, len(term.columns))
            wp.launch(compose, shape, inputs, device=out.device)
            if keeps and (config.noise or config.noise_std):
                term.draws.advance(is_due)
