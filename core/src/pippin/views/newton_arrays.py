"""Newton's arrays for the quantities of a view: in the state, the inputs, the model or the solver's observables."""

from __future__ import annotations

from typing import Any

import warp as wp
from pippin.binding import Host

from .errors import ViewError
from .quantities import ViewQuantity


class NewtonArrays:
    """Finds the arrays of a quantity in a simulation, again at each call, because the states are swapped.

    Args:
        host: The simulation.
    """

    def __init__(self, host: Host) -> None:
        self._host = host

    def to_read(self, quantity: ViewQuantity) -> list[wp.array]:
        """Return the arrays to read a quantity from.

        Raises:
            ViewError: The simulation has no such array.
        """
        host = self._host
        if quantity.source == "state":
            return [getattr(host.stepped_state or host.state, quantity.arrays[0])]
        if quantity.source == "observable":
            return [self._observable(kind, quantity.name) for kind in quantity.arrays]
        return _arrays(host.control if quantity.source == "control" else host.model, quantity)

    def to_write(self, quantity: ViewQuantity) -> list[wp.array]:
        """Return the arrays to write a quantity into.

        Raises:
            ViewError: The simulation has no such array.
        """
        host = self._host
        if quantity.source == "state":
            return _arrays(host.services.written.state_for_joints(), quantity)
        return _arrays(host.control if quantity.source == "control" else host.model, quantity)

    def _observable(self, kind: str, name: str) -> wp.array:
        array = getattr(self._host.observables, kind, None)
        if array is None:
            raise ViewError(
                f"get_{name}: the simulation does not ask the solver for {kind!r}, which has to be allocated before"
                f' the first step; write simulation.observables = ["{kind}"]'
            )
        return array


def _arrays(owner: Any, quantity: ViewQuantity) -> list[wp.array]:
    if "." in quantity.arrays[0]:
        return [_added(owner, quantity)]
    return [getattr(owner, name) for name in quantity.arrays]


def _added(owner: Any, quantity: ViewQuantity) -> wp.array:
    """Return an array that a solver adds to the model under its own name, such as `mujoco.gravcomp`."""
    path = quantity.arrays[0]
    solver, _, name = path.partition(".")
    array = getattr(getattr(owner, solver, None), name, None)
    if array is None:
        raise ViewError(f"{quantity.name}: the model has no attribute {path}; only solver {solver} has it")
    return array
