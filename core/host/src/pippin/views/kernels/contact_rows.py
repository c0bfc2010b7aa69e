"""The kernels of `ContactRows`: contacts sorted into the rows of their cells.

Rows are counted first, so that the rows of a cell follow each other; then each contact takes the next row of its cell.
"""

import warp as wp

from .contacts import Pairing, Sources, is_contact, next_cell


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
def count_in_cells(pairing: Pairing, shape: int, other: int, counts: wp.array[int]):
    """Count a contact in its cells."""
    cell = next_cell(pairing, shape, other, -1)
    while cell >= 0:
        wp.atomic_add(counts, cell, 1)
        cell = next_cell(pairing, shape, other, cell)


@wp.kernel
def count_rows(contacts: Sources, pairing: Pairing, counts: wp.array[int]):
    """counts[cell] = number of rows that the cell needs."""
    i = wp.tid()
    if is_contact(contacts, i):
        count_in_cells(pairing, contacts.shape0[i], contacts.shape1[i], counts)
        count_in_cells(pairing, contacts.shape1[i], contacts.shape0[i], counts)


@wp.func
def write_in_cells(
    pairing: Pairing,
    rows: ContactRowArrays,
    next_row: wp.array[int],
    shape: int,
    other: int,
    force: wp.vec3,
    normal: wp.vec3,
    point: wp.vec3,
    separation: float,
    shape_body: wp.array[int],
):
    """Write a contact into the next row of each of its cells, or record an overflow if there is no such row."""
    along = wp.dot(force, normal)
    cell = next_cell(pairing, shape, other, -1)
    while cell >= 0:
        row = wp.atomic_add(next_row, cell, 1)
        if row < rows.capacity:
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
        else:
            wp.atomic_max(rows.overflow, 0, row + 1)
        cell = next_cell(pairing, shape, other, cell)


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
    if pairing.row_of_shape[a] < 0 and pairing.row_of_shape[b] < 0:
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
    write_in_cells(pairing, rows, next_row, a, b, force, -normal, point, separation, shape_body)
    write_in_cells(pairing, rows, next_row, b, a, -force, normal, point, separation, shape_body)
