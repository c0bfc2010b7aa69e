"""The kernels of recorders: contacts sorted into the rows of their worlds, episodes, and lengths of tendons."""

import newton
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


@wp.struct
class Guides:
    """Guides of all tendons, as in a model."""

    body: wp.array(dtype=int)
    type: wp.array(dtype=int)
    radius: wp.array(dtype=float)
    orientation: wp.array(dtype=int)
    offset: wp.array(dtype=wp.vec3)
    axis: wp.array(dtype=wp.vec3)


@wp.struct
class Guide:
    """A guide in the world."""

    centre: wp.vec3
    axis: wp.vec3
    radius: float
    side: float


@wp.func
def guide_at(guides: Guides, index: int, body_q: wp.array[wp.transform]):
    """Return a guide where its body is; a point has no radius."""
    found = Guide()
    found.centre = guides.offset[index]
    found.axis = guides.axis[index]
    if guides.body[index] >= 0:
        pose = body_q[guides.body[index]]
        found.centre = wp.transform_point(pose, found.centre)
        found.axis = wp.transform_vector(pose, found.axis)
    found.axis = wp.normalize(found.axis)
    if guides.type[index] == int(newton.TendonGuideType.ROLLER):
        found.radius = guides.radius[index]
    found.side = float(guides.orientation[index])
    return found


@wp.func
def touched(guide: Guide, point: wp.vec3, side: float):
    """Return where a line from a point touches a roller on one side; the place of a guide without a radius."""
    towards = point - guide.centre
    towards -= wp.dot(towards, guide.axis) * guide.axis
    distance = wp.length(towards)
    if guide.radius == 0.0 or distance == 0.0:
        return guide.centre
    along = towards / distance
    cosine = wp.min(guide.radius / distance, 1.0)
    sine = wp.sqrt(1.0 - cosine * cosine)
    return guide.centre + guide.radius * (cosine * along + side * sine * wp.cross(guide.axis, along))


@wp.struct
class Spans:
    """Numbers of the straight spans of all tendons: of a model, and the rest lengths of a state."""

    compliance: wp.array(dtype=float)
    damping: wp.array(dtype=float)
    rest_length: wp.array(dtype=float)


@wp.func
def velocity_at(
    guides: Guides,
    index: int,
    guide: Guide,
    point: wp.vec3,
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    body_com: wp.array[wp.vec3],
):
    """Return the velocity of a guide at a point; a tendon does not take part in the spin of a roller."""
    body = guides.body[index]
    if body < 0:
        return wp.vec3(0.0)
    turn = wp.spatial_bottom(body_qd[body])
    velocity = wp.spatial_top(body_qd[body])
    velocity += wp.cross(turn, point - wp.transform_point(body_q[body], body_com[body]))
    if guide.radius > 0.0:
        velocity -= wp.dot(turn, guide.axis) * wp.cross(guide.axis, point - guide.centre)
    return velocity


@wp.kernel
def measure_tendons(
    tendons: wp.array2d[int],
    starts: wp.array[int],
    guides: Guides,
    spans: Spans,
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    body_com: wp.array[wp.vec3],
    is_active: wp.array[wp.bool],
    places: wp.array[int],
    lengths: wp.array2d[float],
    tensions: wp.array[float],
):
    """Write the length of each tendon, its straight parts and the arcs on rollers that it passes, and the tension of
    each span; those on both sides of a roller that the tendon has left are one span.
    """
    row, world = wp.tid()
    tendon = tendons[row, world]
    first = starts[tendon]
    count = starts[tendon + 1] - first - 1
    left = guide_at(guides, first, body_q)
    from_guide = int(first)
    arrival = left.centre
    length = wp.float32(0.0)
    for index in range(first + 1, starts[tendon + 1]):
        if is_active[index]:
            right = guide_at(guides, index, body_q)
            leave = left.centre
            reach = right.centre
            for _ in range(10):  # two rollers find the ends of their span in a few rounds
                reach = touched(right, leave, right.side)
                leave = touched(left, reach, -left.side)
            straight = wp.length(reach - leave)
            length += straight
            if left.radius > 0.0 and wp.length(arrival - left.centre) > 0.0:
                start = arrival - left.centre
                end = leave - left.centre
                turn = left.side * wp.atan2(wp.dot(end, wp.cross(left.axis, start)), wp.dot(end, start))
                if turn < -0.5 * wp.pi:
                    turn += 2.0 * wp.pi
                length += turn * left.radius
            if places[row] >= 0:
                compliance = wp.float32(0.0)
                damping = wp.float32(0.0)
                for span in range(from_guide - tendon, index - tendon):
                    compliance += spans.compliance[span]
                    damping += spans.damping[span]
                rest_length = spans.rest_length[from_guide - tendon]
                tension = wp.float32(0.0)
                if rest_length >= 0.0 and straight > 0.0:  # it is measured in the first step
                    speed = velocity_at(guides, index, right, reach, body_q, body_qd, body_com)
                    speed -= velocity_at(guides, from_guide, left, leave, body_q, body_qd, body_com)
                    rate = wp.dot(reach - leave, speed) / straight
                    tension = wp.max(straight - rest_length, 0.0) / compliance + damping * rate
                for span in range(from_guide - first, index - first):
                    tensions[places[row] + world * count + span] = wp.max(tension, 0.0)
            left = right
            from_guide = index
            arrival = reach
    lengths[row, world] = length
