"""Reports of a contact view, contact by contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import warp as wp

__all__ = ["ContactData", "FrictionData", "RawContactData"]


class ContactData(NamedTuple):
    """The contacts of sensors with their filters; rows of one pair follow each other.

    They are those of the detection: also of what is near and does not touch yet, with no force and a gap.

    `forces[start : start + count]` are those of sensor s with filter f, for start = starts[s, f], count = counts[s, f].
    """

    forces: wp.array
    """Normal force on the sensor [N, or N·s], shape [capacity]; positive pushes it away."""

    points: wp.array
    """Midpoint between the surfaces [m], in the world, shape [capacity, 3]."""

    normals: wp.array
    """Unit vector towards the sensor, in the world, shape [capacity, 3]."""

    separations: wp.array
    """Distance of the surfaces [m], shape [capacity]; negative if they penetrate."""

    counts: wp.array
    """Contacts of each pair, shape [sensors, filters]; all of them, also those without a row."""

    starts: wp.array
    """First row of each pair, shape [sensors, filters]."""

    overflow: wp.array
    """Rows that were needed when they were too few, the most since `check_errors` was called, else 0; shape [1]."""


class RawContactData(NamedTuple):
    """All contacts of sensors, as in `ContactData`; counts and starts have shape [sensors]."""

    forces: wp.array
    points: wp.array
    normals: wp.array
    separations: wp.array
    counts: wp.array
    starts: wp.array
    overflow: wp.array
    other_bodies: wp.array
    """Body that exerts the force, shape [capacity]; -1 if it is static."""

    other_shapes: wp.array
    """Its shape, shape [capacity]; -1 in rows that are not used."""


class FrictionData(NamedTuple):
    """The tangential forces of contacts, pair by pair as in `ContactData`; without filters, as in `RawContactData`.

    Within a pair, the order of contacts is that of threads, and may differ from call to call on CUDA.
    """

    forces: wp.array
    """Tangential force on the sensor [N, or N·s], in the world, shape [capacity, 3]."""

    points: wp.array
    counts: wp.array
    starts: wp.array
    overflow: wp.array
