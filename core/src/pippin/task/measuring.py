"""Quantities of a task, each measured once for all terms that choose it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import warp as wp
from pippin.config.component import ComponentConfig

from .making import make_term
from .place import Measured, TaskPlace

__all__ = ["Quantities"]


class Quantities:
    """The quantities that terms have chosen so far; equal choices share one."""

    def __init__(self) -> None:
        self._measured: list[Measured] = []

    def __iter__(self) -> Iterator[Measured]:
        return iter(self._measured)

    def of(self, choice: ComponentConfig, place: TaskPlace, where: str) -> Measured:
        """Return the quantity of a choice, and make it at its first use.

        Args:
            choice: The type of the quantity, and its configuration.
            place: The place of the term that chooses it.
            where: Key of the choice in the term's table, for errors.

        Raises:
            ConfigError: The quantity does not fit the simulation.
        """
        for measured in self._measured:
            if measured.choice == choice:
                return measured
        quantity = make_term(place.simulation, "quantity", choice, place, where, f"task.{place.name}.{where}")
        values: Any = wp.zeros((place.world_count, len(quantity.labels)), dtype=float, device=place.device)
        measured = Measured(choice, quantity, values)
        self._measured.append(measured)
        return measured
