"""Permissions of setters: quantities that the built solver and the actuators of a simulation let a view write."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import warp as wp
from pippin.binding import Host

from .held import Held
from .indexing import PADDING
from .quantities import ViewQuantity

__all__ = ["Permissions", "index_of"]


class Permissions:
    """Reasons why a quantity cannot be set: the solver would ignore it, or an actuator sets it itself.

    Args:
        host: The simulation.
        indices: Index map of each kind of element, padded with -1.
        faults: Faults of the setter of each quantity.
    """

    def __init__(self, host: Host, indices: Mapping[str, np.ndarray], faults: Mapping[str, wp.array]) -> None:
        self._host, self._indices, self._faults = host, indices, faults
        self._dofs = indices.get("dof")
        self._held: dict[str, Held | None] = {}
        self._owners: tuple[str, ...] | None = None

    def prepare(self, quantity: ViewQuantity) -> None:
        """Allocate now what `held` would allocate later, if all components are bound."""
        if self._host.services.owners is not None:
            self.held(quantity)

    def fault(self, quantity: ViewQuantity) -> str | None:
        """Return why a quantity cannot be set in any row; None if it can."""
        return self._fault_of_solver(quantity) or self._fault_of_owners(quantity)

    def held(self, quantity: ViewQuantity) -> Held | None:
        """Return the elements that the built solver lets nobody set; found again until all components are bound."""
        name, host = quantity.name, self._host
        if name in self._held or not quantity.feature:
            return self._held.get(name)
        index = index_of(quantity, self._indices)
        # What an actuator takes over needs no drive of the solver.
        index = np.where(self._is_taken(quantity, index), PADDING, index)
        held = Held.of(quantity, host.services.support, index, self._faults[name], host.model)
        if host.services.owners is not None:
            self._held[name] = held
        return held

    def _fault_of_solver(self, quantity: ViewQuantity) -> str | None:
        """Return why the solver cannot honour a quantity; None if it can, or if actuators take over all of it."""
        fault = self._host.services.support.fault(quantity.feature)
        if fault is None:
            return None
        index = index_of(quantity, self._indices)
        return None if index.size and (self._is_taken(quantity, index) | (index < 0)).all() else fault

    def _fault_of_owners(self, quantity: ViewQuantity) -> str | None:
        """Return why a quantity belongs to an actuator; inside a step, what is set holds for that step."""
        owners = self._host.services.owners
        if owners is None or self._dofs is None or self._host.stepped_state is not None:
            return None
        if self._owners is None:
            self._owners = tuple(owners.owning(self._dofs))
        return owners.fault(quantity.arrays[0], self._owners) if self._owners else None

    def _is_taken(self, quantity: ViewQuantity, index: np.ndarray) -> np.ndarray:
        """Tell for each row and column whether an actuator takes over what is set there."""
        if self._host.services.owners is None or self._dofs is None or index.shape != self._dofs.shape:
            return np.zeros(index.shape, dtype=bool)
        return self._host.services.owners.taken(quantity.arrays[0], self._dofs)


def index_of(quantity: ViewQuantity, indices: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the element of Newton's arrays of each row and column, padded with -1."""
    return indices["dof_coord" if quantity.is_in_coordinates else quantity.element]
