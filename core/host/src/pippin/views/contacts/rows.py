"""Rows for the contacts of a view, sorted by sensor and filter on the device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import warp as wp
from pippin.arrays import present
from pippin.binding import Host
from pippin.views.kernels.contact_rows import ContactRowArrays, count_rows, fill_rows


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
        self._arrays = {name: _allocate(name, capacity, device) for name in ("points", *names)}
        for name, array in self._arrays.items():
            setattr(self._rows, name, array)
        #: Largest number of rows needed so far, if there were too few rows, else 0; shape [1].
        self.overflow = wp.zeros(1, dtype=int, device=device)
        self._rows.overflow, self._rows.capacity = self.overflow, capacity
        #: The arrays by name, vectors as rows of three numbers; `counts` and `starts` of the cells, and `overflow`.
        self.reported = {
            name: array.view(wp.float32) if name in _VECTORS else array for name, array in self._arrays.items()
        }
        self.reported |= {"counts": counts.reshape(shape), "starts": starts.reshape(shape), "overflow": self.overflow}

    def fill(self, contacts: Any, contact_count: int, scale: float) -> None:
        """Write the contacts, a `kernels.contacts.Sources`; the forces are multiplied by the scale."""
        host = self._host
        device = host.model.device
        for name, array in self._arrays.items():
            array.fill_(-1 if name in _INDICES else 0)
        self._counts.zero_()
        wp.launch(count_rows, contact_count, [contacts, self._pairing, self._counts], device=device)
        wp.utils.array_scan(self._counts, self._starts, inclusive=False)
        wp.copy(self._next, self._starts)
        body_q = present((host.stepped_state or host.state).body_q)
        inputs = [contacts, self._pairing, scale, host.model.shape_body, body_q, self._next, self._rows]
        wp.launch(fill_rows, contact_count, inputs, device=device)


_VECTORS = ("points", "normals", "frictions")
_INDICES = ("other_bodies", "other_shapes")


def _allocate(name: str, capacity: int, device: wp.Device) -> wp.array:
    dtype = wp.vec3 if name in _VECTORS else int if name in _INDICES else float
    return wp.zeros(capacity, dtype=dtype, device=device)
