"""Kernels of motions: the time of each world, the values of the built-in functions, and what follows the values."""

import warp as wp
from pippin.state import random_state

ALONG = wp.constant(0)
"""Values are displacements along a direction, or forces."""

ABOUT = wp.constant(1)
"""Values are angles about an axis, or torques."""

DISPLACED = wp.constant(2)
"""Values are displacements with three components, or forces."""

POSED = wp.constant(3)
"""Values are poses."""

_EASED = wp.constant(1)
_STEPPED = wp.constant(2)

ROUNDING = 1.0e-8
"""More than the rounding error of a time within a year [s]: a time that is less before a key is at the key."""

_ROUNDING = wp.constant(wp.float64(ROUNDING))


@wp.struct
class TrajectoryValues:
    """The values of a motion in each world, and where they act in space."""

    counts: wp.array[wp.int64]
    """Evaluations since the reset, shape [worlds]."""

    active: wp.array[float]
    """1 while the motion lasts, else 0, shape [worlds]."""

    times: wp.array[wp.float64]
    """Time since the motion began [s], shape [worlds]."""

    lead: wp.float64
    """Time of the first value, to which goals go from where they are at the start [s]; zero if they jump to it."""

    is_eased: wp.bool
    """Whether they go from rest to rest."""

    values: wp.array2d[float]
    rates: wp.array2d[float]
    mode: int
    direction: wp.vec3
    point: wp.vec3
    has_point: wp.bool
    is_own: wp.bool
    """Whether direction and point are in the frame of each body."""

    is_from_start: wp.bool
    """Whether values of joints are added to those at the start."""


@wp.struct
class Elements:
    """The bodies, particles, joints or axes of a motion, with the world and the column of values of each."""

    index: wp.array[int]
    world: wp.array[int]
    column: wp.array[int]


@wp.kernel
def write_times(
    dt: wp.float64,
    ahead: wp.int64,
    start: wp.float64,
    span: wp.float64,
    last: wp.float64,
    period: wp.float64,
    counts: wp.array[wp.int64],
    times: wp.array[wp.float64],
    active: wp.array[float],
):
    """Count an evaluation, and tell the time since the motion began, or at its end; it is active up to `last`."""
    world = wp.tid()
    time = wp.float64(counts[world] + ahead) * dt - start
    counts[world] += wp.int64(1)
    active[world] = 1.0
    if time < -_ROUNDING or time > last:
        active[world] = 0.0
    time = wp.clamp(time, wp.float64(0.0), span)
    if period > wp.float64(0.0):
        time = wp.max(time - wp.floor((time + _ROUNDING) / period) * period, wp.float64(0.0))
    times[world] = time


@wp.kernel
def interpolate(
    times: wp.array[wp.float64],
    keys: wp.array[wp.float64],
    samples: wp.array2d[float],
    way: int,
    are_poses: wp.bool,
    values: wp.array2d[float],
    rates: wp.array2d[float],
):
    """Values between samples, and their rates; those of poses are linear and angular velocity."""
    world = wp.tid()
    time, last = times[world] + _ROUNDING, keys.shape[0] - 1
    below = wp.lower_bound(keys, time)
    if below > last or keys[below] > time:
        below -= 1
    if below < 0 or below == last or way == _STEPPED:
        for column in range(values.shape[1]):
            values[world, column] = samples[wp.max(below, 0), column]
            rates[world, column] = 0.0
        return
    length = float(keys[below + 1] - keys[below])
    share = float(times[world] - keys[below]) / length
    speed = 1.0 / length
    if way == _EASED:
        speed = 6.0 * share * (1.0 - share) / length
        share = share * share * (3.0 - 2.0 * share)
    for column in range(values.shape[1]):
        change = samples[below + 1, column] - samples[below, column]
        values[world, column] = samples[below, column] + share * change
        rates[world, column] = speed * change
    if are_poses:
        before = wp.quat(samples[below, 3], samples[below, 4], samples[below, 5], samples[below, 6])
        after = wp.quat(samples[below + 1, 3], samples[below + 1, 4], samples[below + 1, 5], samples[below + 1, 6])
        turn = after * wp.quat_inverse(before)
        if turn[3] < 0.0:
            turn = -turn
        axis, angle = wp.quat_to_axis_angle(turn)
        now = wp.quat_from_axis_angle(axis, share * angle) * before
        for part in range(4):
            values[world, 3 + part] = now[part]
        for part in range(3):
            rates[world, 3 + part] = speed * angle * axis[part]


@wp.kernel
def follow_law(
    times: wp.array[wp.float64], laws: wp.array2d[wp.float64], values: wp.array2d[float], rates: wp.array2d[float]
):
    """Mean + rate t + amplitude sin(2 π frequency t + phase); the columns of `laws` are these five numbers."""
    world, column = wp.tid()
    law = laws[column]
    turns = law[3] * times[world]
    angle = 2.0 * wp.pi * float(turns - wp.floor(turns)) + float(law[4])
    values[world, column] = float(law[0] + law[1] * times[world]) + float(law[2]) * wp.sin(angle)
    rates[world, column] = float(law[1]) + 2.0 * wp.pi * float(law[2] * law[3]) * wp.cos(angle)


@wp.kernel
def draw_values(
    times: wp.array[wp.float64],
    period: wp.float64,
    key: int,
    seeds: wp.array[int],
    first_world: int,
    resets: wp.array[int],
    bounds: wp.array2d[float],
    values: wp.array2d[float],
):
    """Uniform numbers, the same from one multiple of a period to the next; those after a reset are others."""
    world = wp.tid()
    count = wp.int32(wp.int64((times[world] + _ROUNDING) / period))
    state = random_state(key + resets[world], seeds[world], first_world + world, count)
    for column in range(values.shape[1]):
        values[world, column] = wp.randf(state, bounds[column, 0], bounds[column, 1])


@wp.func
def vector_at(rows: wp.array2d[float], row: int, first: int):
    """Three numbers of a row."""
    return wp.vec3(rows[row, first], rows[row, first + 1], rows[row, first + 2])


@wp.func
def followed(
    course: TrajectoryValues, world: int, column: int, start: wp.transform, pivot: wp.vec3, direction: wp.vec3
):
    """Return the pose that follows from one at the start, the velocity of its origin, and its angular velocity."""
    place, turn = wp.transform_get_translation(start), wp.transform_get_rotation(start)
    velocity, spin = wp.vec3(), wp.vec3()
    if course.mode == POSED:
        place, velocity = vector_at(course.values, world, 0), vector_at(course.rates, world, 0)
        spin = vector_at(course.rates, world, 3)
        row = course.values[world]
        turn = wp.normalize(wp.quat(row[3], row[4], row[5], row[6]))
    elif course.mode == DISPLACED:
        place, velocity = place + vector_at(course.values, world, 0), vector_at(course.rates, world, 0)
    elif course.mode == ALONG:
        place, velocity = place + direction * course.values[world, column], direction * course.rates[world, column]
    else:
        about = wp.quat_from_axis_angle(direction, course.values[world, column])
        place, turn = pivot + wp.quat_rotate(about, place - pivot), about * turn
        spin = direction * course.rates[world, column]
        velocity = wp.cross(spin, place - pivot)
    return wp.transform(place, turn), course.active[world] * velocity, course.active[world] * spin


@wp.kernel
def move_bodies(
    moved: Elements,
    course: TrajectoryValues,
    joint: wp.array[int],
    joint_to_parent: wp.array[wp.transform],
    joint_to_child: wp.array[wp.transform],
    joint_q_start: wp.array[int],
    joint_qd_start: wp.array[int],
    body_com: wp.array[wp.vec3],
    starts: wp.array[wp.transform],
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Write pose and velocity of each body, and those of its free joint."""
    i = wp.tid()
    body, world = moved.index[i], moved.world[i]
    if course.counts[world] == wp.int64(1):
        starts[i] = body_q[body]
    frame, pivot = wp.transform_identity(), wp.transform_get_translation(starts[i])
    if course.is_own:
        frame = wp.transform(pivot, wp.transform_get_rotation(starts[i]))
    if course.has_point:
        pivot = wp.transform_point(frame, course.point)
    direction = wp.transform_vector(frame, course.direction)
    pose, velocity, spin = followed(course, world, moved.column[i], starts[i], pivot, direction)
    velocity += wp.cross(spin, wp.transform_vector(pose, body_com[body]))
    body_q[body] = pose
    body_qd[body] = wp.spatial_vector(velocity, spin)
    if joint[i] >= 0:
        parent = wp.transform_inverse(joint_to_parent[joint[i]])
        local = parent * pose * joint_to_child[joint[i]]
        velocity, spin = wp.transform_vector(parent, velocity), wp.transform_vector(parent, spin)
        for part in range(7):
            joint_q[joint_q_start[joint[i]] + part] = local[part]
        for part in range(3):
            joint_qd[joint_qd_start[joint[i]] + part] = velocity[part]
            joint_qd[joint_qd_start[joint[i]] + 3 + part] = spin[part]


@wp.kernel
def move_particles(
    moved: Elements,
    course: TrajectoryValues,
    centres: wp.array[wp.vec3],
    starts: wp.array[wp.vec3],
    particle_q: wp.array[wp.vec3],
    particle_qd: wp.array[wp.vec3],
):
    """Write position and velocity of each particle."""
    i = wp.tid()
    particle, world = moved.index[i], moved.world[i]
    if course.counts[world] == wp.int64(1):
        starts[i] = particle_q[particle]
    start = wp.transform(starts[i], wp.quat_identity())
    pose, velocity, _ = followed(course, world, moved.column[i], start, centres[world], course.direction)
    particle_q[particle] = wp.transform_get_translation(pose)
    particle_qd[particle] = velocity


@wp.kernel
def move_joints(
    moved: Elements,
    course: TrajectoryValues,
    dofs: wp.array[int],
    starts: wp.array[float],
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
    kept_q: wp.array[float],
    kept_qd: wp.array[float],
):
    """Write position and velocity of each joint into a state, and into the one between steps."""
    i = wp.tid()
    coordinate, world, column = moved.index[i], moved.world[i], moved.column[i]
    if course.counts[world] == wp.int64(1):
        starts[i] = joint_q[coordinate]
    position = course.values[world, column]
    if course.is_from_start:
        position += starts[i]
    velocity = course.active[world] * course.rates[world, column]
    joint_q[coordinate] = position
    joint_qd[dofs[i]] = velocity
    kept_q[coordinate] = position
    kept_qd[dofs[i]] = velocity


@wp.kernel
def write_targets(
    moved: Elements,
    course: TrajectoryValues,
    rows: wp.array[int],
    is_effort: wp.bool,
    starts: wp.array[float],
    targets: wp.array2d[float],
):
    """Write the target of each axis."""
    i = wp.tid()
    world = moved.world[i]
    if course.counts[world] == wp.int64(1):
        starts[i] = targets[rows[i], moved.index[i]]
    target = course.values[world, moved.column[i]]
    if course.is_from_start:
        target += starts[i]
    if is_effort:
        target *= course.active[world]
    targets[rows[i], moved.index[i]] = target


@wp.kernel
def move_goals(
    moved: Elements,
    course: TrajectoryValues,
    first: wp.int64,
    frame_bodies: wp.array[int],
    body_q: wp.array[wp.transform],
    starts: wp.array[wp.transform],
    frames: wp.array[wp.transform],
    goals: wp.array[wp.transform],
):
    """Write each goal while the motion lasts, in the frame of a body as it was when it began, or in the world."""
    i = wp.tid()
    goal, world, body = moved.index[i], moved.world[i], frame_bodies[i]
    if course.active[world] == 0.0:
        return
    if course.counts[world] == first:
        frames[i] = wp.transform_identity()
        if body >= 0:
            frames[i] = body_q[body]
        starts[i] = wp.transform_inverse(frames[i]) * goals[goal]
    start = starts[i]
    if body >= 0 and course.mode == DISPLACED:
        start = wp.transform(wp.vec3(), wp.transform_get_rotation(start))
    pivot = wp.transform_get_translation(start)
    if course.has_point:
        pivot = course.point
    pose, _, _ = followed(course, world, moved.column[i], start, pivot, course.direction)
    if course.times[world] < course.lead:
        share = float(course.times[world] / course.lead)
        if course.is_eased:
            share = share * share * (3.0 - 2.0 * share)
        place, turn = wp.transform_get_translation(pose), wp.transform_get_rotation(pose)
        from_place, from_turn = wp.transform_get_translation(starts[i]), wp.transform_get_rotation(starts[i])
        if wp.dot(turn, from_turn) < 0.0:
            turn = -turn
        pose = wp.transform(wp.lerp(from_place, place, share), wp.quat_slerp(from_turn, turn, share))
    goals[goal] = frames[i] * pose


@wp.kernel
def add_forces(
    moved: Elements,
    course: TrajectoryValues,
    body_com: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    body_f: wp.array[wp.spatial_vector],
):
    """Add a force at a point of each body, or a torque."""
    i = wp.tid()
    body, world, column = moved.index[i], moved.world[i], moved.column[i]
    turn, frame = wp.transform_get_rotation(body_q[body]), wp.quat_identity()
    if course.is_own:
        frame = turn
    direction = wp.quat_rotate(frame, course.direction)
    force, torque = wp.vec3(), wp.vec3()
    if course.mode == DISPLACED:
        force = vector_at(course.values, world, 0)
    elif course.mode == ALONG:
        force = direction * course.values[world, column]
        if course.has_point:
            torque = wp.cross(wp.quat_rotate(turn, course.point - body_com[body]), force)
    else:
        torque = direction * course.values[world, column]
    body_f[body] += course.active[world] * wp.spatial_vector(force, torque)
