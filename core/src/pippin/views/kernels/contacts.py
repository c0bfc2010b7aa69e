"""The kernels of `RigidContactView`: contact forces, summed by sensor and split by filter.

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


@wp.kernel
def sum_forces(contacts: Sources, row_of_shape: wp.array[int], scale: float, net: wp.array[wp.vec3]):
    """net[sensor] += force on the sensor."""
    i = wp.tid()
    if not is_contact(contacts, i):
        return
    force = scale * wp.spatial_top(contacts.force[i])
    row = row_of_shape[contacts.shape0[i]]
    if row >= 0:
        wp.atomic_add(net, row, force)
    row = row_of_shape[contacts.shape1[i]]
    if row >= 0:
        wp.atomic_add(net, row, -force)


@wp.func
def add_to_columns(pairing: Pairing, row: int, other: int, force: wp.vec3, matrix: wp.array2d[wp.vec3]):
    """Add a force to every column whose set has the other shape."""
    for k in range(pairing.set_start[other], pairing.set_start[other + 1]):
        for column in range(pairing.columns.shape[1]):
            if pairing.columns[row, column] == pairing.sets[k]:
                wp.atomic_add(matrix, row, column, force)


@wp.kernel
def split_forces(contacts: Sources, pairing: Pairing, scale: float, matrix: wp.array2d[wp.vec3]):
    """matrix[sensor, filter] += the force that the filter exerts on the sensor."""
    i = wp.tid()
    if not is_contact(contacts, i):
        return
    force = scale * wp.spatial_top(contacts.force[i])
    a = contacts.shape0[i]
    b = contacts.shape1[i]
    row = pairing.row_of_shape[a]
    if row >= 0:
        add_to_columns(pairing, row, b, force, matrix)
    row = pairing.row_of_shape[b]
    if row >= 0:
        add_to_columns(pairing, row, a, -force, matrix)
