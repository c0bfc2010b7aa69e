"""Data of single contacts, as a contact view returns them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import warp as wp


class ContactData(NamedTuple):
    """The contacts of sensors with their filters; the rows of one pair follow each other.

    All contacts of the collision detection are listed. A pair of shapes that is near but does not touch yet has a
    positive separation and no force.

    `forces[start : start + count]` belong to sensor s and filter f, for start = starts[s, f], count = counts[s, f].
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
    """Number of contacts of each pair, shape [sensors, filters], including contacts without a row."""

    starts: wp.array
    """First row of each pair, shape [sensors, filters]."""

    overflow: wp.array
    """Largest number of rows needed since the last `raise_errors`, if there were too few rows, else 0; shape [1]."""


class RawContactData(NamedTuple):
    """All contacts of sensors, as in `ContactData`; counts and starts have shape [sensors]."""

    forces: wp.array
    """Normal force on the sensor [N, or N·s], shape [capacity]; positive pushes it away."""
    points: wp.array
    """Midpoint between the surfaces [m], in the world, shape [capacity, 3]."""
    normals: wp.array
    """Unit vector towards the sensor, in the world, shape [capacity, 3]."""
    separations: wp.array
    """Distance of the surfaces [m], shape [capacity]; negative if they penetrate."""
    counts: wp.array
    """Number of contacts of each sensor, shape [sensors], including contacts without a row."""
    starts: wp.array
    """First row of each sensor, shape [sensors]."""
    overflow: wp.array
    """Largest number of rows needed since the last `raise_errors`, if there were too few rows, else 0; shape [1]."""
    other_bodies: wp.array
    """Body that exerts the force, shape [capacity]; -1 if it is static."""

    other_shapes: wp.array
    """Shape that exerts the force, shape [capacity]; -1 in unused rows."""


class FrictionData(NamedTuple):
    """The tangential forces of contacts, pair by pair as in `ContactData`; without filters, as in `RawContactData`.

    Within a pair, the contacts have the order of the threads, which may differ from call to call on CUDA.
    """

    forces: wp.array
    """Tangential force on the sensor [N, or N·s], in the world, shape [capacity, 3]."""

    points: wp.array
    """Midpoint between the surfaces [m], in the world, shape [capacity, 3]."""
    counts: wp.array
    """Number of contacts of each pair, shape [sensors, filters]; without filters, of each sensor, shape [sensors]."""
    starts: wp.array
    """First row of each pair or sensor, with the shape of `counts`."""
    overflow: wp.array
    """Largest number of rows needed since the last `raise_errors`, if there were too few rows, else 0; shape [1]."""
