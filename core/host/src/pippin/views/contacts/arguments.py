"""Arguments for the kernels of a contact view: the contacts, and the assignment of shapes to sensors and filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.binding import Host
from pippin.views.errors import ViewError
from pippin.views.kernels.contacts import Pairing, Sources

from .pairing import Counterpart


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
