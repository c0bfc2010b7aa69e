"""Kernels of quantities."""

from typing import Any

import warp as wp

from pippin_task.commands.kernels import ClipArrays


@wp.kernel
def gather(
    values: wp.array[float],
    indices: wp.array2d[int],
    offsets: wp.array2d[float],
    scales: wp.array2d[float],
    out: wp.array2d[float],
):
    """Out = (values[index] − offset) × scale."""
    world, i = wp.tid()
    out[world, i] = (values[indices[world, i]] - offsets[world, i]) * scales[world, i]


@wp.kernel
def take_circular(is_sine: int, out: wp.array2d[float]):
    """Out = cos(out) or sin(out)."""
    world, i = wp.tid()
    out[world, i] = wp.where(is_sine > 0, wp.sin(out[world, i]), wp.cos(out[world, i]))


@wp.kernel
def subtract_columns(
    errors: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array[int],
    scales: wp.array2d[float],
    out: wp.array2d[float],
):
    """out[target] −= error[column] × scale."""
    world, i = wp.tid()
    out[world, targets[i]] -= errors[world, columns[i]] * scales[world, targets[i]]


@wp.kernel
def copy_columns(values: wp.array2d[float], columns: wp.array[int], targets: wp.array[int], out: wp.array2d[float]):
    """out[target] = values[column]."""
    world, i = wp.tid()
    out[world, targets[i]] = values[world, columns[i]]


@wp.kernel
def copy_flags(values: wp.array2d[wp.bool], out: wp.array2d[float]):
    """Out = 1 if the value is true, else 0."""
    world, i = wp.tid()
    out[world, i] = wp.where(values[world, i], 1.0, 0.0)


@wp.kernel
def take_signed_log(values: wp.array2d[float], out: wp.array2d[float]):
    """Out = sign(value) · ln(1 + abs(value))."""
    world, i = wp.tid()
    value = values[world, i]
    out[world, i] = wp.sign(value) * wp.log(1.0 + wp.abs(value))


@wp.kernel
def take_speed(values: wp.array2d[float], out: wp.array2d[float]):
    """Out = the length of the first two numbers + the size of the third."""
    world = wp.tid()
    level = wp.length(wp.vec2(values[world, 0], values[world, 1]))
    out[world, 0] = level + wp.abs(values[world, 2])


@wp.kernel
def read_colours(
    image: wp.array4d[wp.vec4ub], width: int, channel_stride: int, pixel_stride: int, out: wp.array2d[float]
):
    """Out = red, green and blue / 255."""
    world, pixel = wp.tid()
    colour = image[world, 0, pixel // width, pixel % width]
    for channel in range(3):
        out[world, channel * channel_stride + pixel * pixel_stride] = float(colour[channel]) / 255.0


@wp.kernel
def read_depths(image: wp.array4d[float], width: int, far: float, out: wp.array2d[float]):
    """Out = depth / far, at most 1."""
    world, pixel = wp.tid()
    out[world, pixel] = wp.min(image[world, 0, pixel // width, pixel % width], far) / far


@wp.kernel
def take_power(qd: wp.array[float], dofs: wp.array2d[int], out: wp.array2d[float]):
    """Out = abs(out × qd)."""
    world, i = wp.tid()
    out[world, i] = wp.abs(out[world, i] * qd[dofs[world, i]])


@wp.kernel
def take_difference(
    values: wp.array2d[float],
    last: wp.array2d[float],
    earlier: wp.array2d[float],
    is_second: int,
    out: wp.array2d[float],
):
    """Out = value − last; or the change of this difference, value − 2 last + earlier."""
    world, i = wp.tid()
    out[world, i] = values[world, i] - last[world, i]
    if is_second > 0:
        out[world, i] -= last[world, i] - earlier[world, i]


@wp.kernel
def read_remaining_time(lengths: wp.array[int], steps: int, unit: float, out: wp.array2d[float]):
    """Out = what is left of a number of control steps × their length in a unit."""
    world = wp.tid()
    out[world, 0] = float(steps - lengths[world]) * unit


@wp.kernel
def take_rates(
    values: wp.array2d[float],
    step: wp.array[wp.int64],
    dt: float,
    steps: wp.array2d[wp.int64],
    before: wp.array2d[float],
    latest: wp.array2d[float],
    out: wp.array2d[float],
):
    """Out = (value − value at the end of the control step before) / dt; the same in every call of one step."""
    world, i = wp.tid()
    if steps[world, i] != step[0]:
        before[world, i] = latest[world, i]
        steps[world, i] = step[0]
    latest[world, i] = values[world, i]
    out[world, i] = (values[world, i] - before[world, i]) / dt


@wp.kernel
def begin_rates(
    world_mask: wp.array[wp.bool],
    values: wp.array2d[float],
    step: wp.array[wp.int64],
    steps: wp.array2d[wp.int64],
    before: wp.array2d[float],
    latest: wp.array2d[float],
):
    """Take the present value of the masked worlds for the one before."""
    world, i = wp.tid()
    if world_mask[world]:
        before[world, i] = values[world, i]
        latest[world, i] = values[world, i]
        steps[world, i] = step[0]


@wp.func
def heading_of(rotation: wp.quat) -> float:
    """Return the angle from the world's x axis to the body's, seen from above [rad]."""
    forward = wp.quat_rotate(rotation, wp.vec3(1.0, 0.0, 0.0))
    return wp.atan2(forward[1], forward[0])


@wp.func
def in_frame(vector: wp.vec3, rotation: wp.quat, frame: int) -> wp.vec3:
    """Return a vector of the world in the frame 0, the world's; 1, the body's; or 2, turned by heading alone."""
    if frame == 1:
        return wp.quat_rotate_inv(rotation, vector)
    if frame == 2:
        angle = heading_of(rotation)
        c = wp.cos(angle)
        s = wp.sin(angle)
        return wp.vec3(c * vector[0] + s * vector[1], c * vector[1] - s * vector[0], vector[2])
    return vector


@wp.func
def speed_at(rotation: wp.quat, motion: wp.spatial_vector, arm: wp.vec3) -> wp.vec3:
    """Return the velocity of a point of a body, `arm` away from its centre of mass in axes of the body [m/s]."""
    return wp.spatial_top(motion) + wp.cross(wp.spatial_bottom(motion), wp.quat_rotate(rotation, arm))


@wp.func
def matrix_place(number: int, is_by_rows: int) -> wp.vec2i:
    """Return row and column of a number of the first two columns of a matrix."""
    if is_by_rows > 0:
        return wp.vec2i(number / 2, number % 2)
    return wp.vec2i(number % 3, number / 3)


@wp.kernel
def read_height(body_q: wp.array[wp.transform], bodies: wp.array[int], out: wp.array2d[float]):
    """Write z of one body in each world."""
    world = wp.tid()
    out[world, 0] = wp.transform_get_translation(body_q[bodies[world]])[2]


@wp.func
def pose_in(body_q: wp.array[wp.transform], body: int, reference: int) -> wp.transform:
    """Return the pose of a body in another one; a negative index stands for the world."""
    if reference >= 0:
        return wp.transform_inverse(body_q[reference]) * body_q[body]
    return body_q[body]


@wp.kernel
def read_positions(
    body_q: wp.array[wp.transform], bodies: wp.array2d[int], references: wp.array[int], out: wp.array2d[float]
):
    """Write x, y, z of each body in the reference."""
    world, i = wp.tid()
    position = wp.transform_get_translation(pose_in(body_q, bodies[world, i], references[world]))
    for axis in range(3):
        out[world, 3 * i + axis] = position[axis]


@wp.kernel
def read_rotations(
    body_q: wp.array[wp.transform],
    bodies: wp.array2d[int],
    references: wp.array[int],
    is_by_rows: int,
    out: wp.array2d[float],
):
    """Write the first two columns of the matrix of each body in the reference."""
    world, i = wp.tid()
    pose = pose_in(body_q, bodies[world, i], references[world])
    matrix = wp.quat_to_matrix(wp.transform_get_rotation(pose))
    for number in range(6):
        place = matrix_place(number, is_by_rows)
        out[world, 6 * i + number] = matrix[place[0], place[1]]


@wp.kernel
def read_variants(variants: wp.array[int], bodies: wp.array2d[int], places: wp.array[wp.vec2i], out: wp.array2d[float]):
    """Write 1 for the variant that a body has; places are the column of the body and the number of the variant."""
    world, i = wp.tid()
    place = places[i]
    out[world, i] = wp.where(variants[bodies[world, place[0]]] == place[1], 1.0, 0.0)


@wp.kernel
def read_relative_position(
    body_q: wp.array[wp.transform],
    bodies: wp.array[int],
    offset: wp.vec3,
    references: wp.array[int],
    reference_offset: wp.vec3,
    frame: int,
    out: wp.array2d[float],
):
    """Write x, y, z of a point of a body beside one of another body; a negative index stands for the world."""
    world = wp.tid()
    reference = wp.transform_identity()
    if references[world] >= 0:
        reference = body_q[references[world]]
    apart = wp.transform_point(body_q[bodies[world]], offset) - wp.transform_point(reference, reference_offset)
    apart = in_frame(apart, wp.transform_get_rotation(reference), frame)
    for axis in range(3):
        out[world, axis] = apart[axis]


@wp.kernel
def read_mass_centre(
    body_q: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_mass: wp.array[float],
    bodies: wp.array2d[int],
    out: wp.array2d[float],
):
    """Write x, y, z of the centre of mass of some bodies."""
    world = wp.tid()
    total = wp.float32(0.0)
    moment = wp.vec3()
    for i in range(bodies.shape[1]):
        body = bodies[world, i]
        total += body_mass[body]
        moment += body_mass[body] * wp.transform_point(body_q[body], body_com[body])
    for axis in range(3):
        out[world, axis] = moment[axis] / total


@wp.kernel
def read_angular_momentum(
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    body_com: wp.array[wp.vec3],
    body_mass: wp.array[float],
    body_inertia: wp.array[wp.mat33],
    bodies: wp.array2d[int],
    out: wp.array2d[float],
):
    """Write x, y, z of the angular momentum of some bodies about their centre of mass, in axes of the world."""
    world = wp.tid()
    total = wp.float32(0.0)
    moment = wp.vec3()
    push = wp.vec3()
    about_origin = wp.vec3()
    for i in range(bodies.shape[1]):
        body = bodies[world, i]
        mass = body_mass[body]
        turn = wp.transform_get_rotation(body_q[body])
        centre = wp.transform_point(body_q[body], body_com[body])
        velocity = wp.spatial_top(body_qd[body])
        spin = wp.quat_rotate_inv(turn, wp.spatial_bottom(body_qd[body]))
        about_origin += wp.quat_rotate(turn, body_inertia[body] * spin) + mass * wp.cross(centre, velocity)
        total += mass
        moment += mass * centre
        push += mass * velocity
    momentum = about_origin - wp.cross(moment, push) / total
    for axis in range(3):
        out[world, axis] = momentum[axis]


@wp.kernel
def read_orientation(
    body_q: wp.array[wp.transform], bodies: wp.array[int], is_unique: int, first: int, out: wp.array2d[float]
):
    """Write the quaternion x, y, z, w, from the component `first` on; with w >= 0 if it shall be unique."""
    world = wp.tid()
    rotation = wp.transform_get_rotation(body_q[bodies[world]])
    sign = wp.where(is_unique > 0 and rotation[3] < 0.0, -1.0, 1.0)
    for i in range(4):
        out[world, i] = sign * rotation[(i + first) % 4]


@wp.kernel
def read_velocity(
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    body_com: wp.array[wp.vec3],
    bodies: wp.array[int],
    kind: int,
    point: wp.vec3,
    frame: int,
    out: wp.array2d[float],
):
    """Write a velocity of a body: kind 0 is that of its centre of mass, 1 of a point, and 2 the angular one."""
    world = wp.tid()
    body = bodies[world]
    rotation = wp.transform_get_rotation(body_q[body])
    velocity = wp.spatial_top(body_qd[body])
    if kind == 1:
        velocity = speed_at(rotation, body_qd[body], point - body_com[body])
    if kind == 2:
        velocity = wp.spatial_bottom(body_qd[body])
    velocity = in_frame(velocity, rotation, frame)
    for axis in range(3):
        out[world, axis] = velocity[axis]


@wp.kernel
def project_gravity(
    body_q: wp.array[wp.transform], gravity: wp.array[wp.vec3], bodies: wp.array[int], out: wp.array2d[float]
):
    """Write the direction of gravity in a body's frame; zero without gravity."""
    world = wp.tid()
    rotation = wp.transform_get_rotation(body_q[bodies[world]])
    direction = wp.quat_rotate_inv(rotation, wp.normalize(gravity[world]))
    for axis in range(3):
        out[world, axis] = direction[axis]


@wp.kernel
def read_heading_to(body_q: wp.array[wp.transform], bodies: wp.array[int], target: wp.vec2, out: wp.array2d[float]):
    """Write cosine and sine of the angle from a body's heading to a point, seen from above."""
    world = wp.tid()
    pose = body_q[bodies[world]]
    position = wp.transform_get_translation(pose)
    angle = wp.atan2(target[1] - position[1], target[0] - position[0])
    angle -= heading_of(wp.transform_get_rotation(pose))
    out[world, 0] = wp.cos(angle)
    out[world, 1] = wp.sin(angle)


@wp.kernel
def read_nearness(
    body_q: wp.array[wp.transform], bodies: wp.array[int], target: wp.vec3, is_level: int, out: wp.array2d[float]
):
    """Write minus the distance of a body to a point, seen from above if `is_level`."""
    world = wp.tid()
    way = target - wp.transform_get_translation(body_q[bodies[world]])
    if is_level > 0:
        way = wp.vec3(way[0], way[1], 0.0)
    out[world, 0] = -wp.length(way)


@wp.func
def vector_itself(value: wp.vec3):
    """Return the vector."""
    return value


def _mean(name: str, dtype: Any, vector_of: wp.Function) -> wp.Kernel:
    """Return the kernel of a name that writes the mean vector of a row, which is padded with -1; in a fixed order."""

    def mean(source: wp.array(dtype=dtype), rows: wp.array2d[int], shares: wp.array[float], out: wp.array2d[float]):
        world, axis = wp.tid()
        total = wp.float32(0.0)  # a constant cannot grow in a loop
        for i in range(rows.shape[1]):
            if rows[world, i] >= 0:
                total += vector_of(source[rows[world, i]])[axis]
        out[world, axis] = total * shares[world]

    return wp.Kernel(mean, key=name, module=wp.get_module(__name__))


mean_vector = _mean("mean_vector", wp.vec3, vector_itself)
mean_place = _mean("mean_place", wp.transform, wp.transform_get_translation)
mean_speed = _mean("mean_speed", wp.spatial_vector, wp.spatial_top)


@wp.kernel
def read_heights_over(
    sites: wp.array[int],
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    points: wp.array2d[wp.vec3],
    offset: float,
    no_hit: float,
    reduction: int,
    bounds: wp.vec2,
    out: wp.array2d[float],
):
    """Heights of sites above points, which are not finite if a ray met none: of each point for the reduction 0; or of
    a site's points the mean, 1; the least, 2; or the most, 3; within bounds.
    """
    i, k = wp.tid()
    site = sites[i]
    z = wp.transform_point(body_q[shape_body[site]], wp.transform_get_translation(shape_transform[site]))[2]
    first = k
    count = wp.int32(1)
    if reduction > 0:
        first = 0
        count = points.shape[1]
    total = wp.float32(0.0)
    least = wp.float32(wp.inf)
    most = wp.float32(-wp.inf)
    for ray in range(first, first + count):
        height = z - points[i, ray][2] - offset
        height = wp.where(wp.isfinite(height), height, no_hit)
        total += height
        least = wp.min(least, height)
        most = wp.max(most, height)
    found = wp.where(reduction == 2, least, total / float(count))
    out[i, k] = wp.clamp(wp.where(reduction == 3, most, found), bounds[0], bounds[1])


@wp.kernel
def read_ground_normals(
    body_q: wp.array[wp.transform], bodies: wp.array[int], points: wp.array2d[wp.vec3], out: wp.array2d[float]
):
    """Normal of the plane with the least squared distances from points, in the body's axes; points that are not finite
    are left out. It is up if the points are no plane: fewer than three, on a line, or a tenth as thick as wide.
    """
    world = wp.tid()
    count = wp.float32(0.0)
    middle = wp.vec3()
    for i in range(points.shape[1]):
        if wp.isfinite(points[world, i]):
            middle += points[world, i]
            count += 1.0
    middle /= wp.max(count, 1.0)
    spread = wp.mat33()
    for i in range(points.shape[1]):
        if wp.isfinite(points[world, i]):
            arm = points[world, i] - middle
            spread += wp.outer(arm, arm)
    axes, squares = wp.eig3(spread)
    k = wp.int32(wp.argmin(squares))
    up = wp.vec3(0.0, 0.0, 1.0)
    width = wp.min(squares[(k + 1) % 3], squares[(k + 2) % 3])
    if count >= 3.0 and squares[k] < 0.1 * width and width > 1e-4 * wp.trace(spread):
        up = wp.normalize(wp.vec3(axes[0, k], axes[1, k], axes[2, k]))
        up *= wp.where(up[2] < 0.0, -1.0, 1.0)
    normal = wp.quat_rotate_inv(wp.transform_get_rotation(body_q[bodies[world]]), up)
    for i in range(3):
        out[world, i] = normal[i]


@wp.func
def frame_ahead(clip: ClipArrays, world: int, ahead: int) -> int:
    """Return the number of a later frame: of the last one, or round a loop."""
    if clip.period > 0:
        return (clip.frames[world] + ahead) % clip.period
    return wp.min(clip.frames[world] + ahead, clip.body_poses.shape[0] - 1)


@wp.kernel
def read_motion_joints(
    clip: ClipArrays,
    ahead: wp.array[int],
    table: wp.array2d[float],
    values: wp.array[float],
    indices: wp.array2d[int],
    is_error: int,
    out: wp.array2d[float],
):
    """Write the numbers of joints in the frame of each world and in later ones, or what they lack to the state's."""
    world, i = wp.tid()
    count = table.shape[1]
    joint = i % count
    wanted = table[frame_ahead(clip, world, ahead[i / count]), joint]
    if is_error > 0:
        wanted = values[indices[world, joint]] - wanted
    out[world, i] = wanted


@wp.func
def rotation_vector(rotation: wp.quat) -> wp.vec3:
    """Return the rotation vector of a quaternion, at most pi long [rad]."""
    axis = wp.vec3(rotation[0], rotation[1], rotation[2])
    if rotation[3] < 0.0:
        axis = -axis
    sine = wp.length(axis)
    factor = wp.float32(2.0)
    if sine > 1.0e-7:
        factor = 2.0 * wp.atan2(sine, wp.abs(rotation[3])) / sine
    return factor * axis


@wp.kernel
def read_pose_error(
    body_q: wp.array[wp.transform],
    bodies: wp.array[int],
    offset: wp.vec3,
    references: wp.array[int],
    goals: wp.array2d[float],
    is_rotation: int,
    out: wp.array2d[float],
):
    """Write x, y, z of a body's position or turn from a goal in another body's frame, or the world's for index -1."""
    world = wp.tid()
    place = wp.vec3(goals[world, 0], goals[world, 1], goals[world, 2])
    goal = wp.transform(place, wp.quat(goals[world, 3], goals[world, 4], goals[world, 5], goals[world, 6]))
    if references[world] >= 0:
        goal = body_q[references[world]] * goal
    pose = body_q[bodies[world]]
    error = wp.transform_point(pose, offset) - wp.transform_get_translation(goal)
    if is_rotation != 0:
        error = rotation_vector(wp.transform_get_rotation(pose) * wp.quat_inverse(wp.transform_get_rotation(goal)))
    for axis in range(3):
        out[world, axis] = error[axis]


@wp.func
def over_anchor(anchor: wp.transform, wanted: wp.transform) -> wp.transform:
    """Return what moves a wanted anchor along x and y over the other one, and turns it about z as far."""
    apart = wp.transform_get_rotation(anchor) * wp.quat_inverse(wp.transform_get_rotation(wanted))
    turn = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), heading_of(apart))
    begin = wp.transform_get_translation(wanted)
    shift = wp.transform_get_translation(anchor) - wp.quat_rotate(turn, begin)
    return wp.transform(wp.vec3(shift[0], shift[1], 0.0), turn)


@wp.kernel
def read_motion_errors(
    clip: ClipArrays,
    chosen: wp.array[int],
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    body_com: wp.array[wp.vec3],
    gravity: wp.array[wp.vec3],
    what: int,
    is_origin: int,
    is_moved: int,
    is_mean: int,
    out: wp.array2d[float],
):
    """Write what bodies have minus what the clip has, side by side, or the mean of the lengths: position 0, rotation 1,
    velocity 2, angular velocity 3, direction of gravity 4.
    """
    world = wp.tid()
    frame = clip.frames[world]
    place = clip.places[world]
    if is_moved > 0:
        anchor = place * clip.body_poses[frame, clip.anchor]
        place = over_anchor(body_q[clip.bodies[world, clip.anchor]], anchor) * place
    total = wp.float32(0.0)
    for i in range(chosen.shape[0]):
        k = chosen[i]
        body = clip.bodies[world, k]
        pose = body_q[body]
        wanted = place * clip.body_poses[frame, k]
        error = wp.transform_get_translation(pose) - wp.transform_get_translation(wanted)
        turn = wp.transform_get_rotation(place)
        if what == 1:
            back = wp.quat_inverse(wp.transform_get_rotation(wanted))
            error = rotation_vector(wp.transform_get_rotation(pose) * back)
        elif what == 2:
            arm = wp.where(is_origin > 0, -body_com[body], wp.vec3())
            attitude = wp.transform_get_rotation(clip.body_poses[frame, k])
            of_clip = speed_at(attitude, clip.body_velocities[frame, k], arm)
            error = speed_at(wp.transform_get_rotation(pose), body_qd[body], arm) - wp.quat_rotate(turn, of_clip)
        elif what == 3:
            of_clip = wp.spatial_bottom(clip.body_velocities[frame, k])
            error = wp.spatial_bottom(body_qd[body]) - wp.quat_rotate(turn, of_clip)
        elif what == 4:
            down = wp.normalize(gravity[world])
            error = wp.quat_rotate_inv(wp.transform_get_rotation(pose), down)
            error -= wp.quat_rotate_inv(wp.transform_get_rotation(wanted), down)
        total += wp.length(error)
        if is_mean == 0:
            for axis in range(3):
                out[world, 3 * i + axis] = error[axis]
    if is_mean > 0:
        out[world, 0] = total / float(chosen.shape[0])


@wp.kernel
def read_motion_poses(
    clip: ClipArrays,
    ahead: wp.array[int],
    chosen: wp.array[int],
    body_q: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    what: int,
    is_origin: int,
    is_by_rows: int,
    width: int,
    out: wp.array2d[float],
):
    """Write what the clip has of bodies in the frame of each world and in later ones, in the frame of the anchor."""
    world, i = wp.tid()
    later = ahead[i / chosen.shape[0]]
    k = chosen[i % chosen.shape[0]]
    frame = frame_ahead(clip, world, later)
    place = clip.places[world]
    if clip.period > 0:
        for _turn in range((clip.frames[world] + later) / clip.period):
            place = place * clip.stride
    wanted = place * clip.body_poses[frame, k]
    velocity = clip.body_velocities[frame, k]
    from_anchor = wp.transform_inverse(body_q[clip.bodies[world, clip.anchor]])
    turn = wp.transform_get_rotation(from_anchor)
    if what == 1:
        matrix = wp.quat_to_matrix(turn * wp.transform_get_rotation(wanted))
        for number in range(6):
            cell = matrix_place(number, is_by_rows)
            out[world, width * i + number] = matrix[cell[0], cell[1]]
        return
    vector = wp.transform_point(from_anchor, wp.transform_get_translation(wanted))
    if what == 2:
        arm = wp.where(is_origin > 0, -body_com[clip.bodies[world, k]], wp.vec3())
        speed = speed_at(wp.transform_get_rotation(clip.body_poses[frame, k]), velocity, arm)
        vector = wp.quat_rotate(turn * wp.transform_get_rotation(place), speed)
    if what == 3:
        vector = wp.quat_rotate(turn * wp.transform_get_rotation(place), wp.spatial_bottom(velocity))
    for axis in range(3):
        out[world, width * i + axis] = vector[axis]


@wp.kernel
def read_phase_of_motion(frames: wp.array[int], count: int, offsets: wp.array[float], out: wp.array2d[float]):
    """Write cosine and sine of 2 pi frame / count + offset."""
    world, i = wp.tid()
    phase = 2.0 * wp.pi * float(frames[world]) / float(count) + offsets[i]
    out[world, 2 * i] = wp.cos(phase)
    out[world, 2 * i + 1] = wp.sin(phase)


@wp.kernel
def read_phase_of_time(
    lengths: wp.array[int], turns_per_step: wp.float64, offsets: wp.array[float], out: wp.array2d[float]
):
    """Write cosine and sine of 2 pi f t + offset."""
    world, i = wp.tid()
    turns = wp.float64(lengths[world]) * turns_per_step
    phase = 2.0 * wp.pi * float(turns - wp.floor(turns)) + offsets[i]
    out[world, 2 * i] = wp.cos(phase)
    out[world, 2 * i + 1] = wp.sin(phase)
