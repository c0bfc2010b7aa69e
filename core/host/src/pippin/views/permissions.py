"""Permissions of setters: quantities that the built solver and the actuators of a simulation let a view write."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import warp as wp
from pippin.binding import Host
from pippin.errors import ConfigError

from .errors import ViewError
from .indexing import PADDING
from .quantities import ViewQuantity
from .read_only import ReadOnlyElements

IN_STEP = "inside a step, only targets and forces can be set; set it between steps"
"""Fault of a call that changes the state or the model within a step."""


class Permissions:
    """Reasons why a quantity cannot be set: the solver would ignore it, or an actuator sets it itself.

    There is an index map for each kind of element, padded with -1, and memory for the faults of each setter.
    """

    def __init__(self, host: Host, indices: Mapping[str, np.ndarray], faults: Mapping[str, wp.array]) -> None:
        self._host, self._indices, self._faults = host, indices, faults
        self._dofs = indices.get("dof")
        self._read_only: dict[str, ReadOnlyElements | None] = {}
        self._owners: tuple[str, ...] | None = None

    def prepare(self, quantity: ViewQuantity) -> None:
        """Allocate now what `read_only` would allocate later, if all components are bound."""
        if self._host.services.owners is not None:
            self.read_only(quantity)

    def fault(self, quantity: ViewQuantity) -> str | None:
        """Return why a quantity cannot be set now in any row; None if it can."""
        is_in_step = self._host.stepped_state is not None
        if is_in_step and quantity.source != "control":
            return IN_STEP
        if quantity.feature and (fault := self._fault_of_solver(quantity)):
            return fault
        # Nobody owns the state, and inside a step, what is set holds for that step.
        return None if is_in_step or quantity.source == "state" else self._fault_of_owners(quantity)

    def read_only(self, quantity: ViewQuantity) -> ReadOnlyElements | None:
        """Return the elements that the built solver cannot take over; looked up until all components are bound."""
        name, host = quantity.name, self._host
        if name in self._read_only or not quantity.feature:
            return self._read_only.get(name)
        index = index_of(quantity, self._indices)
        # What an actuator takes over needs no drive of the solver.
        index = np.where(self._is_taken(quantity, index), PADDING, index)
        elements = ReadOnlyElements(quantity.arrays, host.services.support, index, self._faults[name], host.model)
        found = None if elements.is_empty else elements
        if host.services.owners is not None:
            self._read_only[name] = found
        return found

    def _fault_of_solver(self, quantity: ViewQuantity) -> str | None:
        """Return why the solver cannot honour a quantity; None if it can, or if actuators take over all of it."""
        support = self._host.services.support
        if quantity.flags:
            fault = support.change_fault(quantity.feature, quantity.arrays[0])
        else:
            fault = support.fault(quantity.feature)
        if fault is None:
            return None
        index = index_of(quantity, self._indices)
        return None if index.size and (self._is_taken(quantity, index) | (index < 0)).all() else fault

    def _fault_of_owners(self, quantity: ViewQuantity) -> str | None:
        """Return why a quantity belongs to an actuator, which sets it itself."""
        owners = self._host.services.owners
        if owners is None or self._dofs is None:
            return None
        if self._owners is None:
            self._owners = tuple(owners.owning(self._dofs))
        return owners.fault(quantity.arrays[0], self._owners) if self._owners else None

    def _is_taken(self, quantity: ViewQuantity, index: np.ndarray) -> np.ndarray:
        """Tell for each row and column whether an actuator takes over what is set there."""
        if self._host.services.owners is None or self._dofs is None or index.shape != self._dofs.shape:
            return np.zeros(index.shape, dtype=bool)
        return self._host.services.owners.taken(quantity.arrays[0], self._dofs)


def note_change(host: Host, where: str, flags: int) -> None:
    """Note that the solver has to be told of a change before its next step.

    Raises:
        ViewError: It does not follow such a change.
    """
    try:
        host.services.model_changes.note(flags)
    except ConfigError as error:
        raise ViewError(f"{where}: {str(error).removeprefix('notify_model_changed: ')}") from error


def index_of(quantity: ViewQuantity, indices: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the element of Newton's arrays of each row and column, padded with -1."""
    return indices["dof_coord" if quantity.is_in_coordinates else quantity.element]
