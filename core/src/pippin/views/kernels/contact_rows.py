"""The kernels of `ContactRows`: contacts sorted into the rows of their cells.

A cell is a sensor, or a pair of a sensor and one of its filters. Rows are counted first, so that the rows of a cell
follow each other; then each contact takes the next row of its cell.
"""

import warp as wp

from .contacts import Pairing, Sources, is_contact


@wp.struct
class ContactRowArrays:
    """Reported data with one row per contact; a null array is left out."""

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
def count_in_cells(pairing: Pairing, row: int, other: int, counts: wp.array[int]):
    """Count a contact in its cells: of the sensor, or of its filters."""
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
    """counts[cell] = number of rows that the cell needs."""
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
    rows: ContactRowArrays,
    row: int,
    force: wp.vec3,
    normal: wp.vec3,
    point: wp.vec3,
    separation: float,
    other: int,
    shape_body: wp.array[int],
):
    """Write a contact into its row, or record an overflow if there is no such row."""
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
    rows: ContactRowArrays,
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
    """Return the pose of a shape's body; a static shape has the identity pose of the world."""
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
    rows: ContactRowArrays,
):
    """Write each contact of a sensor into the rows that follow from the counts of `count_rows`."""
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
