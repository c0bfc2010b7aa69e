"""Quantities of a task, each measured once for all terms that choose it."""

from __future__ import annotations

from collections.abc import Iterator

import newton
import warp as wp
from pippin.config.component import ComponentConfig

from .context import TermContext
from .factory import make_term
from .terms import Quantity


class QuantityCache:
    """The quantities that terms have chosen so far; equal choices share one."""

    def __init__(self) -> None:
        self._quantities: list[tuple[ComponentConfig, Quantity]] = []

    def __iter__(self) -> Iterator[Quantity]:
        return (quantity for _, quantity in self._quantities)

    def quantity(self, choice: ComponentConfig, context: TermContext, where: str) -> Quantity:
        """Return the quantity of a choice, and make it at its first use.

        Args:
            choice: The type of the quantity, and its configuration.
            context: The context of the term that chooses it.
            where: Key of the choice in the term's table, for errors.

        Raises:
            ConfigError: The quantity does not fit the simulation.
        """
        for known, quantity in self._quantities:
            if known == choice:
                return quantity
        quantity = make_term("quantity", choice, context, where, f"task.{context.name}.{where}")
        shape = (context.world_count, len(quantity.labels))
        quantity.values = wp.zeros(shape, dtype=float, device=context.device)
        self._quantities.append((choice, quantity))
        return quantity

    def measure(self, state: newton.State) -> None:
        """Measure all quantities."""
        for quantity in self:
            quantity.measure(state, quantity.values)
