"""The kernels of recorders: contacts sorted into the rows of their worlds."""

import warp as wp
from pippin.views.kernels.contact_rows import pose_of
from pippin.views.kernels.contacts import Sources, is_contact


@wp.struct
class Table:
    """The first contacts of some worlds; a null array is left out."""

    row_of_world: wp.array(dtype=int)
    """Row of each world, -1 for none; the last entry is for shapes of no world."""

    first_body: wp.array(dtype=int)
    """Index of the first body of each world."""

    count: wp.array(dtype=int)
    bodies: wp.array3d(dtype=int)
    point: wp.array2d(dtype=wp.vec3)
    normal: wp.array2d(dtype=wp.vec3)
    force: wp.array2d(dtype=wp.vec3)


@wp.func
def body_in_world(body: int, first: int):
    """Return the index of a body among those of its world; -1 for a static one."""
    if body < 0:
        return body
    return body - first


@wp.kernel
def fill_table(
    contacts: Sources,
    shape_world: wp.array[int],
    shape_body: wp.array[int],
    body_q: wp.array[wp.transform],
    table: Table,
):
    """Write each contact into the next row of its world, and count it."""
    i = wp.tid()
    if not is_contact(contacts, i):
        return
    a = contacts.shape0[i]
    b = contacts.shape1[i]
    world = wp.max(shape_world[a], shape_world[b])
    if world < 0:
        return
    row = table.row_of_world[world]
    if row < 0:
        return
    k = wp.atomic_add(table.count, row, 1)
    if k >= table.point.shape[1]:
        return
    first = table.first_body[world]
    table.bodies[row, k, 0] = body_in_world(shape_body[a], first)
    table.bodies[row, k, 1] = body_in_world(shape_body[b], first)
    pose_a = pose_of(a, shape_body, body_q)
    pose_b = pose_of(b, shape_body, body_q)
    surface_a = wp.transform_point(pose_a, contacts.point0[i] + contacts.offset0[i])
    surface_b = wp.transform_point(pose_b, contacts.point1[i] + contacts.offset1[i])
    table.point[row, k] = 0.5 * (surface_a + surface_b)
    table.normal[row, k] = wp.normalize(contacts.normal[i])
    if contacts.force:
        table.force[row, k] = wp.spatial_top(contacts.force[i])


@wp.kernel
def show_episodes(
    worlds: wp.array[int],
    weights: wp.array[float],
    reward_terms: wp.array2d[float],
    termination_terms: wp.array2d[wp.bool],
    diverged: wp.array[wp.bool],
    ended: wp.array[wp.bool],
    finished: wp.array[wp.bool],
    episode_return: wp.array[float],
    length: wp.array[int],
    finished_return: wp.array[float],
    finished_length: wp.array[int],
    rewards: wp.array2d[float],
    terminations: wp.array2d[wp.bool],
    returns: wp.array[float],
    lengths: wp.array[int],
):
    """Write the terms of the last step as they counted, and the sums of its episode, also if it ended in this step."""
    row = wp.tid()
    world = worlds[row]
    counts = finished[world] or not ended[world]
    for term in range(reward_terms.shape[0]):
        rewards[row, term] = 0.0
        if counts and not diverged[world]:
            rewards[row, term] = weights[term] * reward_terms[term, world]
    for term in range(termination_terms.shape[0]):
        terminations[row, term] = counts and termination_terms[term, world]
    returns[row] = episode_return[world]
    lengths[row] = length[world]
    if finished[world]:
        returns[row] = finished_return[world]
        lengths[row] = finished_length[world]
