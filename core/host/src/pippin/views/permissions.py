"""Permissions of setters: quantities, and values of their elements, that solver and actuators let a view write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host
from pippin.devices import shares_memory
from pippin.errors import ConfigError
from pippin.support.solver_support import Range, SolverSupport

from .errors import ViewError
from .kernels.read_only import restore
from .memory import CheckedData
from .quantities import ViewQuantity
from .structure import PADDING

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
        owners = self._host.services.owners
        if owners is None or self._dofs is None:
            return None
        if self._owners is None:
            self._owners = tuple(owners.owning(self._dofs))
        return owners.fault(quantity.arrays[0], self._owners) if self._owners else None

    def _is_taken(self, quantity: ViewQuantity, index: np.ndarray) -> np.ndarray:
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


class ReadOnlyElements:
    """Refuses values that the built solver cannot take over, such as a gain of a joint without a drive.

    Data on the host are refused at once, and nothing is written. Data on a CUDA device, and calls that are recorded,
    are not written where they are refused, and counted: `raise_errors` raises.
    """

    def __init__(
        self, names: Sequence[str], support: SolverSupport, index: np.ndarray, faults: wp.array, model: newton.Model
    ) -> None:
        self._support, self._faults = support, faults
        elements = np.unique(index[index >= 0])
        ranges = [support.range_of(name) for name in names]
        self._limited = [
            None if each is None else _LimitedElements(each, elements, present(model.device)) for each in ranges
        ]
        #: Whether every value may be set.
        self.is_empty = not any(limited is not None and limited.elements.size for limited in self._limited)

    @contextmanager
    def watching(self, where: str, arrays: Sequence[wp.array], checked: CheckedData) -> Iterator[None]:
        """Restore, after the `with` block, what the solver cannot take over. May be recorded.

        Raises:
            ViewError: The block wrote what the solver cannot take over, and the host has waited for the data: then
                every array is as before.
        """
        device = present(arrays[0].device)
        at_once = (checked.numbers is not None or shares_memory(device)) and not device.is_capturing
        pairs = [(each, array) for each, array in zip(self._limited, arrays, strict=True) if each is not None]
        for limited, array in pairs:
            wp.copy(limited.before, array)
        yield
        if not at_once:
            for limited, array in pairs:
                limited.restore_refused(array, self._faults)
            return
        refused = [(limited, each) for limited, array in pairs if (each := limited.refused(array)).size]
        if refused:
            for limited, array in pairs:
                wp.copy(array, limited.before)
            limited, elements = refused[0]
            raise ViewError(f"{where}: {self._support.refusal(limited.range, elements)}")


class _LimitedElements:
    """The elements of one array that do not take every value, among those that the view may write."""

    def __init__(self, values: Range, elements: np.ndarray, device: wp.Device) -> None:
        self.range = values
        #: The elements that do not take every value.
        self.elements = elements[values.is_limited[elements]]
        self._low, self._high = values.low[self.elements], values.high[self.elements]
        bounds = [wp.array(each, dtype=wp.float32, device=device) for each in (self._low, self._high)]
        self._inputs = [wp.array(self.elements, dtype=int, device=device), *bounds]
        #: The values before a call.
        self.before = wp.zeros(len(values.low), dtype=wp.float32, device=device)

    def restore_refused(self, array: wp.array, faults: wp.array) -> None:
        if self.elements.size:
            inputs = [*self._inputs, self.before, faults, array]
            wp.launch(restore, self.elements.size, inputs, device=array.device)

    def refused(self, array: wp.array) -> np.ndarray:
        new, old = array.numpy()[self.elements], self.before.numpy()[self.elements]
        is_in = (new >= self._low) & (new <= self._high)
        return self.elements[(new != old) & ~is_in]
