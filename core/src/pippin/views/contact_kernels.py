"""The kernels of contact views. Importing this module imports warp: do it inside the function that launches.

Newton gives the force on shape 0 of a contact, and the normal from shape 0 to shape 1. For a sensor, both are turned so
that the force acts on it and the normal points to it. A contact of two sensors is reported by both.
"""

import warp as wp

__all__ = ["Pairing", "Rows", "Sources", "count_rows", "fill_rows", "split_forces", "sum_forces"]


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
    """Which shapes are of which sensor, and which of which filters."""

    row_of_shape: wp.array(dtype=int)
    """Row of the sensor whose body a shape is of; -1 where there is none."""

    set_start: wp.array(dtype=int)
    """Where the sets that a shape is of begin in `sets`, shape [shape_count + 1]."""

    sets: wp.array(dtype=int)
    columns: wp.array2d(dtype=int)
    """Set that each column of a sensor is about, shape [sensors, filters]; -1 where there is none."""


@wp.struct
class Rows:
    """What is reported of each contact, one row each; an array that is null is left out."""

    forces: wp.array(dtype=float)
    points: wp.array(dtype=wp.vec3)
    normals: wp.array(dtype=wp.vec3)
    separations: wp.array(dtype=float)
    frictions: wp.array(dtype=wp.vec3)
    other_bodies: wp.array(dtype=int)
    other_shapes: wp.array(dtype=int)
    overflow: wp.array(dtype=int)
    capacity: int


@wp.func
def is_contact(contacts: Sources, i: int):
    """Tell whether row i is a contact; a buffer that overflowed counts more than it holds."""
    if i >= contacts.count[0]:
        return False
    a = contacts.shape0[i]
    b = contacts.shape1[i]
    return a >= 0 and b >= 0 and a != b


@wp.kernel
def sum_forces(contacts: Sources, row_of_shape: wp.array[int], scale: float, net: wp.array[wp.vec3]):
    """net[sensor] += the force on it."""
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
    """Add a force in every column that is about the other shape."""
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


@wp.func
def count_in_cells(pairing: Pairing, row: int, other: int, counts: wp.array[int]):
    """Count a contact in its cells: the sensor's, or those of its filters."""
    width = pairing.columns.shape[1]
    if width == 0:
        wp.atomic_add(counts, row, 1)
        return
    for k in range(pairing.set_start[other], pairing.set_start[other + 1]):
        for column in range(width):
            if pairing.columns[row, column] == pairing.sets[k]:
                wp.atomic_add(counts, row * width + column, 1)


@wp.kernel
def count_rows(contacts: Sources, pairing: Pairing, counts: wp.array[int]):
    """counts[cell] = rows that it needs."""
    i = wp.tid()
    if not is_contact(contacts, i):
        return
    a = contacts.shape0[i]
    b = contacts.shape1[i]
    row = pairing.row_of_shape[a]
    if row >= 0:
        count_in_cells(pairing, row, b, counts)
    row = pairing.row_of_shape[b]
    if row >= 0:
        count_in_cells(pairing, row, a, counts)


@wp.func
def write_row(
    rows: Rows,
    row: int,
    force: wp.vec3,
    normal: wp.vec3,
    point: wp.vec3,
    separation: float,
    other: int,
    shape_body: wp.array[int],
):
    """Write a contact into its row, or note that there is no such row."""
    if row >= rows.capacity:
        wp.atomic_max(rows.overflow, 0, row + 1)
        return
    along = wp.dot(force, normal)
    rows.points[row] = point
    if rows.forces:
        rows.forces[row] = along
        rows.normals[row] = normal
        rows.separations[row] = separation
    if rows.frictions:
        rows.frictions[row] = force - along * normal
    if rows.other_bodies:
        rows.other_bodies[row] = shape_body[other]
        rows.other_shapes[row] = other


@wp.func
def write_in_cells(
    pairing: Pairing,
    rows: Rows,
    next_row: wp.array[int],
    sensor: int,
    force: wp.vec3,
    normal: wp.vec3,
    point: wp.vec3,
    separation: float,
    other: int,
    shape_body: wp.array[int],
):
    """Write a contact into the next row of each of its cells, as `count_in_cells` counts them."""
    width = pairing.columns.shape[1]
    if width == 0:
        row = wp.atomic_add(next_row, sensor, 1)
        write_row(rows, row, force, normal, point, separation, other, shape_body)
        return
    for k in range(pairing.set_start[other], pairing.set_start[other + 1]):
        for column in range(width):
            if pairing.columns[sensor, column] == pairing.sets[k]:
                row = wp.atomic_add(next_row, sensor * width + column, 1)
                write_row(rows, row, force, normal, point, separation, other, shape_body)


@wp.func
def pose_of(shape: int, shape_body: wp.array[int], body_q: wp.array[wp.transform]):
    """Return the pose of a shape's body; what is static has the world's."""
    pose = wp.transform_identity()
    body = shape_body[shape]
    if body >= 0:
        pose = body_q[body]
    return pose


@wp.kernel
def fill_rows(
    contacts: Sources,
    pairing: Pairing,
    scale: float,
    shape_body: wp.array[int],
    body_q: wp.array[wp.transform],
    next_row: wp.array[int],
    rows: Rows,
):
    """Write each contact of a sensor into the rows that `count_rows` made room for."""
    i = wp.tid()
    if not is_contact(contacts, i):
        return
    a = contacts.shape0[i]
    b = contacts.shape1[i]
    row_a = pairing.row_of_shape[a]
    row_b = pairing.row_of_shape[b]
    if row_a < 0 and row_b < 0:
        return
    force = scale * wp.spatial_top(contacts.force[i])
    normal = wp.normalize(contacts.normal[i])
    pose_a = pose_of(a, shape_body, body_q)
    pose_b = pose_of(b, shape_body, body_q)
    gap = wp.transform_point(pose_b, contacts.point1[i]) - wp.transform_point(pose_a, contacts.point0[i])
    separation = wp.dot(normal, gap) - (contacts.margin0[i] + contacts.margin1[i])
    surface_a = wp.transform_point(pose_a, contacts.point0[i] + contacts.offset0[i])
    surface_b = wp.transform_point(pose_b, contacts.point1[i] + contacts.offset1[i])
    point = 0.5 * (surface_a + surface_b)
    if row_a >= 0:
        write_in_cells(pairing, rows, next_row, row_a, force, -normal, point, separation, b, shape_body)
    if row_b >= 0:
        write_in_cells(pairing, rows, next_row, row_b, -force, normal, point, separation, a, shape_body)
