"""The kernels of `RigidContactView`: contact forces, summed by cell.

A cell is a sensor, or a pair of a sensor and one of its filters.

Newton gives the force on shape 0 of a contact, and the normal from shape 0 to shape 1. For a sensor, both are turned so
that the force acts on it and the normal points to it. A contact of two sensors is reported by both.
"""

import warp as wp


@wp.struct
class Sources:
    """The contacts of the last detection, and the forces that the solver reported for them."""

    count: wp.array(dtype=int)
    shape0: wp.array(dtype=int)
    shape1: wp.array(dtype=int)
    point0: wp.array(dtype=wp.vec3)
    point1: wp.array(dtype=wp.vec3)
    offset0: wp.array(dtype=wp.vec3)
    offset1: wp.array(dtype=wp.vec3)
    margin0: wp.array(dtype=float)
    margin1: wp.array(dtype=float)
    normal: wp.array(dtype=wp.vec3)
    force: wp.array(dtype=wp.spatial_vector)


@wp.struct
class Pairing:
    """Shapes of each sensor, and of each of its filters."""

    row_of_shape: wp.array(dtype=int)
    """Row of the sensor whose body has the shape; -1 for none."""

    set_start: wp.array(dtype=int)
    """Offset in `sets` of each shape's first set, shape [shape_count + 1]."""

    sets: wp.array(dtype=int)
    columns: wp.array2d(dtype=int)
    """Set of shapes of each column of a sensor, shape [sensors, filters]; -1 for none."""


@wp.func
def is_contact(contacts: Sources, i: int):
    """Return whether row i is a contact; the count of an overflowed buffer exceeds its size."""
    if i >= contacts.count[0]:
        return False
    a = contacts.shape0[i]
    b = contacts.shape1[i]
    return a >= 0 and b >= 0 and a != b


@wp.func
def next_cell(pairing: Pairing, shape: int, other: int, last: int):
    """Return the cell after `last` that counts the contact of a sensor's shape with another shape; -1 for none.

    The first cell follows -1.
    """
    sensor = pairing.row_of_shape[shape]
    if sensor < 0:
        return -1
    width = pairing.columns.shape[1]
    if width == 0:
        return wp.where(last < 0, sensor, -1)
    first = wp.where(last < 0, 0, last + 1 - sensor * width)
    for column in range(first, width):
        for k in range(pairing.set_start[other], pairing.set_start[other + 1]):
            if pairing.columns[sensor, column] == pairing.sets[k]:
                return sensor * width + column
    return -1


@wp.func
def add_to_cells(pairing: Pairing, shape: int, other: int, force: wp.vec3, sums: wp.array[wp.vec3]):
    """Add the force on a shape to the cells of its contact."""
    cell = next_cell(pairing, shape, other, -1)
    while cell >= 0:
        wp.atomic_add(sums, cell, force)
        cell = next_cell(pairing, shape, other, cell)


@wp.kernel
def sum_forces(contacts: Sources, pairing: Pairing, scale: float, sums: wp.array[wp.vec3]):
    """sums[cell] += force on the sensor of the cell."""
    i = wp.tid()
    if not is_contact(contacts, i):
        return
    force = scale * wp.spatial_top(contacts.force[i])
    a = contacts.shape0[i]
    b = contacts.shape1[i]
    add_to_cells(pairing, a, b, force, sums)
    add_to_cells(pairing, b, a, -force, sums)
