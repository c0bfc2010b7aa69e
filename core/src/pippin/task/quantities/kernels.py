"""Kernels of quantities."""

import warp as wp


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
def subtract(values: wp.array2d[float], others: wp.array2d[float], out: wp.array2d[float]):
    """Out = value − other."""
    world, i = wp.tid()
    out[world, i] = values[world, i] - others[world, i]


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


@wp.kernel
def read_height(body_q: wp.array[wp.transform], bodies: wp.array[int], out: wp.array2d[float]):
    """Write z of one body in each world."""
    world = wp.tid()
    out[world, 0] = wp.transform_get_translation(body_q[bodies[world]])[2]


@wp.kernel
def read_positions(body_q: wp.array[wp.transform], bodies: wp.array2d[int], out: wp.array2d[float]):
    """Write x, y, z of each body."""
    world, i = wp.tid()
    position = wp.transform_get_translation(body_q[bodies[world, i]])
    for axis in range(3):
        out[world, 3 * i + axis] = position[axis]


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
    frame: int,
    out: wp.array2d[float],
):
    """Write a velocity of a body: kind 0 is that of its centre of mass, 1 of its origin, and 2 the angular one."""
    world = wp.tid()
    body = bodies[world]
    rotation = wp.transform_get_rotation(body_q[body])
    velocity = wp.spatial_top(body_qd[body])
    if kind == 1:
        velocity -= wp.cross(wp.spatial_bottom(body_qd[body]), wp.quat_rotate(rotation, body_com[body]))
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


@wp.kernel
def mean_vector(vectors: wp.array[wp.vec3], rows: wp.array2d[int], shares: wp.array[float], out: wp.array2d[float]):
    """Out = the mean of the vectors of a row, which is padded with -1; in a fixed order."""
    world, axis = wp.tid()
    total = wp.float32(0.0)  # a constant cannot grow in a loop
    for i in range(rows.shape[1]):
        if rows[world, i] >= 0:
            total += vectors[rows[world, i]][axis]
    out[world, axis] = total * shares[world]


@wp.kernel
def mean_place(poses: wp.array[wp.transform], rows: wp.array2d[int], shares: wp.array[float], out: wp.array2d[float]):
    """Out = the mean of the positions of a row."""
    world, axis = wp.tid()
    total = wp.float32(0.0)  # a constant cannot grow in a loop
    for i in range(rows.shape[1]):
        if rows[world, i] >= 0:
            total += wp.transform_get_translation(poses[rows[world, i]])[axis]
    out[world, axis] = total * shares[world]


@wp.kernel
def mean_speed(
    velocities: wp.array[wp.spatial_vector], rows: wp.array2d[int], shares: wp.array[float], out: wp.array2d[float]
):
    """Out = the mean of the linear velocities of a row."""
    world, axis = wp.tid()
    total = wp.float32(0.0)  # a constant cannot grow in a loop
    for i in range(rows.shape[1]):
        if rows[world, i] >= 0:
            total += wp.spatial_top(velocities[rows[world, i]])[axis]
    out[world, axis] = total * shares[world]


@wp.kernel
def read_heights_over(
    sites: wp.array[int],
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    points: wp.array2d[wp.vec3],
    offset: float,
    no_hit: float,
    is_mean: int,
    out: wp.array2d[float],
):
    """Heights of sites above points, which are not finite if a ray met none: of each point, or the mean of a site's."""
    i, k = wp.tid()
    site = sites[i]
    z = wp.transform_get_translation(body_q[shape_body[site]] * shape_transform[site])[2]
    first = k
    count = wp.int32(1)
    if is_mean > 0:
        first = 0
        count = points.shape[1]
    total = wp.float32(0.0)
    for ray in range(first, first + count):
        height = z - points[i, ray][2] - offset
        total += wp.where(wp.isfinite(height), height, no_hit)
    out[i, k] = total / float(count)
