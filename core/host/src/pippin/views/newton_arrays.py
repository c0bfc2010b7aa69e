"""Newton's arrays for the quantities of a view: in the state, the inputs, the model or the solver's observables.

They are looked up again at each call, because the states are swapped.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import warp as wp
from pippin.binding import Host

from .errors import ViewError
from .quantities import ViewQuantity


def arrays_to_read(host: Host, quantity: ViewQuantity) -> list[wp.array]:
    """Return the arrays to read a quantity from."""
    if quantity.source == "state":
        return _arrays(host.stepped_state or host.state, quantity)
    if quantity.source == "observable":
        return [_observable(host, kind, quantity.name) for kind in quantity.arrays]
    return _arrays(host.control if quantity.source == "control" else host.model, quantity)


def arrays_to_write(host: Host, quantity: ViewQuantity) -> list[wp.array]:
    """Return the arrays to write a quantity into; errors as in `arrays_to_read`."""
    if quantity.source == "state":
        return _arrays(host.services.written.state_for(quantity.invalidates or "joints"), quantity)
    return arrays_to_read(host, quantity)


def _observable(host: Host, kind: str, name: str) -> wp.array:
    array = getattr(host.observables, kind, None)
    if array is None:
        raise ViewError(
            f"get_{name}: the simulation does not ask the solver for {kind!r}, which has to be allocated before"
            f' the first step; write simulation.observables = ["{kind}"]'
        )
    return array


def _arrays(owner: Any, quantity: ViewQuantity) -> list[wp.array]:
    path = quantity.arrays[0]
    solver, _, name = path.rpartition(".")
    if not solver:
        return [*map(getattr, repeat(owner), quantity.arrays)]
    array = getattr(getattr(owner, solver, None), name, None)
    if array is None:
        raise ViewError(f"{quantity.name}: the model has no attribute {path}; only solver {solver} has it")
    return [array]
