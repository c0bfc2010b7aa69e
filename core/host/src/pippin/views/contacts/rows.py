"""Arrays that the kernels of a contact view read and write: contacts, shapes of sensors and filters, and rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.binding import Host
from pippin.views.errors import ViewError
from pippin.views.kernels.contact_rows import ContactRowArrays, count_rows, fill_rows
from pippin.views.kernels.contacts import Pairing, Sources

from .pairing import Counterpart

_TYPES = {"other_bodies": int, "other_shapes": int, **dict.fromkeys(("points", "normals", "frictions"), wp.vec3)}
"""Types of the elements of the arrays that hold no floats."""


class ContactRows:
    """Arrays with one row per contact; the rows of a cell (a sensor, or a pair of sensor and filter) follow each other.

    Contacts are counted by cell, and a prefix sum of the counts gives the first row of each cell. Then every contact
    takes the next row of its cell, so the contacts within a cell have the order of the threads.

    Args:
        host: The simulation; its body poses give the contact points in the world.
        pairing: The cells, a `kernels.contacts.Pairing`; without columns, each sensor is a cell.
        capacity: The number of rows.
        names: Arrays to keep besides the points, by their names in `kernels.contact_rows.ContactRowArrays`.
    """

    def __init__(self, host: Host, pairing: Any, capacity: int, names: Sequence[str]) -> None:
        self._host, self._pairing = host, pairing
        device = host.model.device
        sensor_count, filter_count = pairing.columns.shape
        shape = (sensor_count, filter_count) if filter_count else (sensor_count,)
        counts, starts, self._next = (wp.zeros(math.prod(shape), dtype=int, device=device) for _ in range(3))
        self._counts, self._starts = counts, starts
        self._rows = ContactRowArrays()
        self._arrays = {
            name: wp.zeros(capacity, dtype=_TYPES.get(name, float), device=device) for name in ("points", *names)
        }
        for name, array in self._arrays.items():
            setattr(self._rows, name, array)
        #: Largest number of rows needed so far, if there were too few rows, else 0; shape [1].
        self.overflow = wp.zeros(1, dtype=int, device=device)
        self._rows.overflow, self._rows.capacity = self.overflow, capacity
        #: The arrays by name, vectors as rows of three numbers; `counts` and `starts` of the cells, and `overflow`.
        self.reported = {
            name: array.view(wp.float32) if array.dtype is wp.vec3 else array for name, array in self._arrays.items()
        }
        self.reported |= {"counts": counts.reshape(shape), "starts": starts.reshape(shape), "overflow": self.overflow}

    def fill(self, contacts: Any, contact_count: int, scale: float) -> None:
        """Write the contacts, a `kernels.contacts.Sources`; the forces are multiplied by the scale."""
        host = self._host
        device = host.model.device
        for array in self._arrays.values():
            array.fill_(-1 if array.dtype is wp.int32 else 0)
        self._counts.zero_()
        wp.launch(count_rows, contact_count, [contacts, self._pairing, self._counts], device=device)
        wp.utils.array_scan(self._counts, self._starts, inclusive=False)
        wp.copy(self._next, self._starts)
        body_q = present((host.stepped_state or host.state).body_q)
        inputs = [contacts, self._pairing, scale, host.model.shape_body, body_q, self._next, self._rows]
        wp.launch(fill_rows, contact_count, inputs, device=device)


def sources_of(host: Host) -> Any:
    """Return the contacts of a simulation for kernels, a `kernels.contacts.Sources`; the arrays never change."""
    contacts = host.contacts
    forces = None if host.observables is None else host.observables.contact_f
    if forces is None or contacts is None:
        raise ViewError(
            "contacts: the simulation does not ask the solver for 'contact_f', which has to be allocated before the"
            ' first step; write simulation.observables = ["contact_f"]'
        )
    return contact_sources(contacts, forces)


def contact_sources(contacts: newton.Contacts, forces: wp.array | None) -> Any:
    """Return contacts for kernels; without forces, their array is null."""
    sources: Any = Sources()
    if forces is not None:
        sources.force = forces
    for name in ("count", "shape0", "shape1", "normal"):
        setattr(sources, name, getattr(contacts, f"rigid_contact_{name}"))
    for name in ("point", "offset", "margin"):
        for side in (0, 1):
            setattr(sources, f"{name}{side}", getattr(contacts, f"rigid_contact_{name}{side}"))
    return sources


def pairing_of(
    model: newton.Model, bodies: Sequence[int], counterparts: Sequence[Sequence[Counterpart]], width: int
) -> Any:
    """Return the shapes of each sensor and filter for kernels, a `kernels.contacts.Pairing` of `width` columns."""
    pairing = Pairing()
    shape_sets = dict.fromkeys(each.shapes for row in counterparts for each in row)
    row_of_body = np.full(model.body_count + 1, -1, dtype=np.int32)  # the last entry, index -1, is for static shapes
    row_of_body[bodies] = np.arange(len(bodies))
    sets = {shapes: number for number, shapes in enumerate(shape_sets)}
    columns = np.full((len(bodies), width), -1, dtype=np.int32)
    for sensor, row in enumerate(counterparts):
        columns[sensor, : len(row)] = [sets[each.shapes] for each in row]
    members = sorted((shape, number) for shapes, number in sets.items() for shape in shapes)
    starts = np.searchsorted([shape for shape, _ in members], np.arange(model.shape_count + 1))
    numbers = np.array([number for _, number in members], dtype=np.int32)
    pairing.row_of_shape = wp.array(row_of_body[on_host(model.shape_body)], dtype=int, device=model.device)
    pairing.set_start = wp.array(starts, dtype=int, device=model.device)
    pairing.sets = wp.array(numbers, dtype=int, device=model.device)
    pairing.columns = wp.array(columns, dtype=int, device=model.device)
    return pairing
