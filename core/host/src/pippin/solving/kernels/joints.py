"""Free and ball joints between Newton's and an engine's numbers, and other joints on the way there: one world a thread.

Let p and c be the rotations of the outer and the inner frame in those of the engine, u the rotation that the engine
has, and r Newton's. Then r = p⁻¹ u c, and m = p⁻¹ u rotates vectors from the engine's inner to Newton's outer axes.
All is computed in double precision.
"""

import warp as wp


@wp.struct
class TurningJoints:
    """The free and ball joints of a world, and how the engine writes them; all worlds have the same ones."""

    q_count: int  # Newton's numbers of a world
    qd_count: int
    body_count: int
    is_free: wp.array[wp.bool]
    body: wp.array[int]  # the body that the joint moves
    q: wp.array[int]  # Newton's first coordinate, and its first DOF
    qd: wp.array[int]
    column_q: wp.array[int]  # the engine's
    column_qd: wp.array[int]
    outer: wp.array2d[wp.transformd]  # frames in those of the engine, by world and joint
    inner: wp.array2d[wp.transformd]
    place: wp.array2d[wp.transformd]  # the engine's inner frame in the body
    world: wp.array2d[wp.quatd]  # rotates vectors from the axes of the world to the engine's outer ones
    is_scalar_first: wp.bool
    is_place_last: wp.bool
    is_linear_last: wp.bool
    is_of_origin: wp.bool
    is_linear_inner: wp.bool
    is_angular_inner: wp.bool


@wp.struct
class PlainJoints:
    """The coordinates and velocities of the other joints of a world: Newton's, and the engine's columns."""

    q: wp.array[int]
    qd: wp.array[int]
    column_q: wp.array[int]
    column_qd: wp.array[int]
    reference: wp.array2d[wp.float64]  # the engine's coordinate for Newton's zero, by world and coordinate


@wp.func
def vector(values: wp.array2d[wp.float64], world: int, i: int):
    """Return three numbers of a world."""
    return wp.vec3d(values[world, i], values[world, i + 1], values[world, i + 2])


@wp.func
def put_vector(values: wp.array2d[wp.float64], world: int, i: int, vector: wp.vec3d):
    """Write three numbers of a world."""
    for k in range(3):
        values[world, i + k] = vector[k]


@wp.func
def newton_vector(values: wp.array[float], i: int):
    """Return three numbers in double precision."""
    return wp.vec3d(wp.float64(values[i]), wp.float64(values[i + 1]), wp.float64(values[i + 2]))


@wp.func
def newton_rotation(values: wp.array[float], i: int):
    """Return a quaternion in double precision."""
    x, y, z, w = values[i], values[i + 1], values[i + 2], values[i + 3]
    return wp.quatd(wp.float64(x), wp.float64(y), wp.float64(z), wp.float64(w))


@wp.func
def place_of(joints: TurningJoints, j: int):
    """Return the first column of the position of a free joint."""
    return joints.column_q[j] + wp.where(joints.is_place_last, 4, 0)


@wp.func
def turn_of(joints: TurningJoints, j: int):
    """Return the first column of the quaternion of a joint."""
    return joints.column_q[j] + wp.where(joints.is_free[j] and not joints.is_place_last, 3, 0)


@wp.func
def linear_of(joints: TurningJoints, j: int):
    """Return the first column of the linear velocity of a free joint."""
    return joints.column_qd[j] + wp.where(joints.is_linear_last, 3, 0)


@wp.func
def angular_of(joints: TurningJoints, j: int):
    """Return the first column of the angular velocity of a joint."""
    return joints.column_qd[j] + wp.where(joints.is_free[j] and not joints.is_linear_last, 3, 0)


@wp.func
def rotation(joints: TurningJoints, q: wp.array2d[wp.float64], world: int, j: int):
    """Return the rotation that the engine has."""
    i = turn_of(joints, j)
    if joints.is_scalar_first:
        return wp.normalize(wp.quatd(q[world, i + 1], q[world, i + 2], q[world, i + 3], q[world, i]))
    return wp.normalize(wp.quatd(q[world, i], q[world, i + 1], q[world, i + 2], q[world, i + 3]))


@wp.func
def centre(joints: TurningJoints, com: wp.array[wp.vec3], world: int, j: int):
    """Return the centre of mass of the body in the engine's inner frame."""
    found = com[world * joints.body_count + joints.body[j]]
    own = wp.vec3d(wp.float64(found[0]), wp.float64(found[1]), wp.float64(found[2]))
    place = joints.place[world, j]
    return wp.quat_rotate_inv(wp.transform_get_rotation(place), own - wp.transform_get_translation(place))


@wp.kernel
def read_joints(
    joints: TurningJoints,
    plain: PlainJoints,
    com: wp.array[wp.vec3],
    world_mask: wp.array[wp.bool],
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
    q: wp.array2d[wp.float64],
    qd: wp.array2d[wp.float64],
):
    """Read the coordinates and velocities of the masked worlds."""
    world = wp.tid()
    if not world_mask[world]:
        return
    first_q, first_qd = world * joints.q_count, world * joints.qd_count
    for k in range(plain.q.shape[0]):
        q[world, plain.column_q[k]] = wp.float64(joint_q[first_q + plain.q[k]]) + plain.reference[world, k]
        qd[world, plain.column_qd[k]] = wp.float64(joint_qd[first_qd + plain.qd[k]])
    for j in range(joints.q.shape[0]):
        i, v = first_q + joints.q[j], first_qd + joints.qd[j]
        p = wp.transform_get_rotation(joints.outer[world, j])
        c = wp.transform_get_rotation(joints.inner[world, j])
        first_turn, first_spin = i, v
        if joints.is_free[j]:
            first_turn, first_spin = i + 3, v + 3
        u = wp.normalize(p * newton_rotation(joint_q, first_turn) * wp.quat_inverse(c))
        m = wp.quat_inverse(p) * u
        spin = newton_vector(joint_qd, first_spin)
        omega = wp.quat_rotate_inv(m, spin)
        if joints.is_free[j]:
            arm = wp.quat_rotate(m, wp.transform_get_translation(joints.inner[world, j]))
            origin = wp.transform_get_translation(joints.outer[world, j])
            put_vector(q, world, place_of(joints, j), origin + wp.quat_rotate(p, newton_vector(joint_q, i) - arm))
            speed = newton_vector(joint_qd, v)
            if joints.is_of_origin:
                speed = speed - wp.quat_rotate(m, wp.cross(omega, centre(joints, com, world, j)))
            speed = wp.quat_rotate(p, speed)
            if joints.is_linear_inner:
                speed = wp.quat_rotate_inv(u, speed)
            put_vector(qd, world, linear_of(joints, j), speed)
        if not joints.is_angular_inner:
            omega = wp.quat_rotate(p, spin)
        put_vector(qd, world, angular_of(joints, j), omega)
        first = turn_of(joints, j)
        if joints.is_scalar_first:
            q[world, first] = u[3]
            first = first + 1
        else:
            q[world, first + 3] = u[3]
        for k in range(3):
            q[world, first + k] = u[k]


@wp.kernel
def write_joints(
    joints: TurningJoints,
    com: wp.array[wp.vec3],
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
    q: wp.array2d[wp.float64],
    qd: wp.array2d[wp.float64],
):
    """Write the coordinates and velocities of free and ball joints to Newton's arrays."""
    world = wp.tid()
    for j in range(joints.q.shape[0]):
        i, v = world * joints.q_count + joints.q[j], world * joints.qd_count + joints.qd[j]
        back = wp.quat_inverse(wp.transform_get_rotation(joints.outer[world, j]))
        u = rotation(joints, q, world, j)
        m = back * u
        turn = m * wp.transform_get_rotation(joints.inner[world, j])
        omega = vector(qd, world, angular_of(joints, j))
        if not joints.is_angular_inner:
            omega = wp.quat_rotate_inv(u, omega)
        spin = wp.quat_rotate(m, omega)
        first_turn, first_spin = i, v
        if joints.is_free[j]:
            first_turn, first_spin = i + 3, v + 3
            offset = vector(q, world, place_of(joints, j)) - wp.transform_get_translation(joints.outer[world, j])
            arm = wp.quat_rotate(m, wp.transform_get_translation(joints.inner[world, j]))
            position = wp.quat_rotate(back, offset) + arm
            speed = vector(qd, world, linear_of(joints, j))
            if joints.is_linear_inner:
                speed = wp.quat_rotate(u, speed)
            speed = wp.quat_rotate(back, speed)
            if joints.is_of_origin:
                speed = speed + wp.quat_rotate(m, wp.cross(omega, centre(joints, com, world, j)))
            for k in range(3):
                joint_q[i + k] = float(position[k])
                joint_qd[v + k] = float(speed[k])
        for k in range(3):
            joint_qd[first_spin + k] = float(spin[k])
        for k in range(4):
            joint_q[first_turn + k] = float(turn[k])


@wp.kernel
def turn_efforts(
    joints: TurningJoints,
    com: wp.array[wp.vec3],
    joint_f: wp.array[float],
    q: wp.array2d[wp.float64],
    efforts: wp.array2d[wp.float64],
):
    """Write the efforts of free and ball joints: those of a free one are a wrench at the centre of mass, in axes of the
    world also where the parent's are turned.
    """
    world = wp.tid()
    for j in range(joints.q.shape[0]):
        v = world * joints.qd_count + joints.qd[j]
        u = rotation(joints, q, world, j)
        if joints.is_free[j]:
            force = wp.quat_rotate(joints.world[world, j], newton_vector(joint_f, v))
            torque = wp.quat_rotate(joints.world[world, j], newton_vector(joint_f, v + 3))
            if joints.is_of_origin:
                torque = torque + wp.cross(wp.quat_rotate(u, centre(joints, com, world, j)), force)
            if joints.is_linear_inner:
                force = wp.quat_rotate_inv(u, force)
            if joints.is_angular_inner:
                torque = wp.quat_rotate_inv(u, torque)
            put_vector(efforts, world, linear_of(joints, j), force)
            put_vector(efforts, world, angular_of(joints, j), torque)
        else:
            p = wp.transform_get_rotation(joints.outer[world, j])
            torque = wp.quat_rotate_inv(wp.quat_inverse(p) * u, newton_vector(joint_f, v))
            if not joints.is_angular_inner:
                torque = wp.quat_rotate(p, newton_vector(joint_f, v))
            put_vector(efforts, world, angular_of(joints, j), torque)
