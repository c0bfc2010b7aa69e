"""Contacts by world: the first contacts of each chosen world, in arrays of fixed size."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.binding import Host
from pippin.views.contacts.rows import contact_sources

from .kernels import Table, fill_table

CONTACT_NAMES = tuple(f"contacts/{name}" for name in ("count", "bodies", "point", "normal", "force"))
"""The channels of contacts; `contacts/force` only if the solver reports forces."""


def no_contacts(simulation: Host) -> str | None:
    """Return why a simulation has no contacts to record; None if it has."""
    if simulation.contacts is not None:
        return None
    return 'the solver keeps its contacts to itself; write simulation.observables = ["contact_f"]'


class ContactTable:
    """The contacts of the last detection, by world, with the forces of the last substep.

    The arrays hold `size` contacts of a world. On CUDA, their order may differ from run to run.
    """

    def __init__(self, simulation: Host, worlds: np.ndarray, size: int) -> None:
        self._simulation, model = simulation, simulation.model
        device, count = model.device, len(worlds)
        contacts: Any = present(simulation.contacts)
        force = None if simulation.observables is None else simulation.observables.contact_f
        #: The arrays by name: `count` [worlds], `bodies` [worlds, size, 2], the index of each body in its world and -1
        #: for static shapes; `point` [m], the unit vector `normal` from the first to the second body and `force` on the
        #: first [N], [worlds, size], in the world frame.
        self.arrays: dict[str, wp.array] = {
            "count": wp.zeros(count, dtype=int, device=device),
            "bodies": wp.zeros((count, size, 2), dtype=int, device=device),
            "point": wp.zeros((count, size), dtype=wp.vec3, device=device),
            "normal": wp.zeros((count, size), dtype=wp.vec3, device=device),
        }
        if force is not None:
            self.arrays["force"] = wp.zeros((count, size), dtype=wp.vec3, device=device)
        self._sources = contact_sources(contacts, force)
        self._table: Any = Table()
        row_of_world = np.full(model.world_count + 1, -1, dtype=np.int32)
        row_of_world[worlds] = np.arange(count)
        self._table.row_of_world = wp.array(row_of_world, dtype=int, device=device)
        self._table.first_body = wp.array(on_host(model.body_world_start), dtype=int, device=device)
        for name, array in self.arrays.items():
            setattr(self._table, name, array)

    def update(self) -> None:
        """Fill the arrays; unused rows have bodies of -1, and zeros."""
        simulation, model = self._simulation, self._simulation.model
        for name, array in self.arrays.items():
            array.fill_(-1 if name == "bodies" else 0)
        body_q = (simulation.stepped_state or simulation.state).body_q
        inputs = [self._sources, model.shape_world, model.shape_body, body_q, self._table]
        size = present(simulation.contacts).rigid_contact_max
        wp.launch(fill_table, size, inputs, device=model.device)
