"""Conversion between Newton's and MuJoCo's coordinates and forces, one world per thread, in double precision.

| joint | | Newton | MuJoCo |
|---|---|---|---|
| free | position | child anchor in the parent anchor's frame, xyzw | body's origin in the world, wxyz |
| | velocity | of the centre of mass, and angular, in the parent anchor's frame | of the origin in the world, angular in the body |
| ball | position | child anchor in the parent anchor's frame, xyzw | body in the frame of its rest pose, wxyz |
| | velocity | angular, in the parent anchor's frame | angular, in the body |
| others | position | relative to the authored pose | plus the joint's reference in that pose |

Let p and c be the rotations of the anchors, u the rotation of the body in MuJoCo, and r Newton's rotation. Then
r = p⁻¹ u c, and m = p⁻¹ u rotates vectors from the body's frame to the parent anchor's. In the rest pose of a ball
joint, both anchors coincide: p = c.
"""  # noqa: E501

import warp as wp

__all__ = [
    "BALL",
    "FREE",
    "PLAIN",
    "Joints",
    "read_coordinates",
    "write_coordinates",
    "write_efforts",
    "write_wrenches",
]

PLAIN = wp.constant(0)
BALL = wp.constant(1)
FREE = wp.constant(2)


@wp.struct
class Joints:
    """Some joints of a world; all worlds have the same joints in the same order."""

    coordinate_count: int  # Newton's, of a world
    dof_count: int
    body_count: int
    kind: wp.array[int]
    q: wp.array[int]  # Newton's first coordinate
    qd: wp.array[int]  # Newton's first DOF, and the number of DOFs
    qd_count: wp.array[int]
    qpos: wp.array[int]  # MuJoCo's
    qvel: wp.array[int]
    newton_body: wp.array[int]  # the body that the joint moves
    mujoco_body: wp.array[int]
    parent: wp.array2d[wp.transformd]  # anchors, by world and joint
    child: wp.array2d[wp.transformd]
    com: wp.array2d[wp.vec3d]  # centre of mass of the body [m]
    reference: wp.array2d[wp.float64]  # MuJoCo's coordinate for Newton's zero, by world and DOF


@wp.func
def vector(values: wp.array2d[wp.float64], world: int, i: int):
    return wp.vec3d(values[world, i], values[world, i + 1], values[world, i + 2])


@wp.func
def newton_vector(values: wp.array[float], i: int):
    return wp.vec3d(wp.float64(values[i]), wp.float64(values[i + 1]), wp.float64(values[i + 2]))


@wp.func
def newton_rotation(values: wp.array[float], i: int):
    x, y, z, w = values[i], values[i + 1], values[i + 2], values[i + 3]
    return wp.quatd(wp.float64(x), wp.float64(y), wp.float64(z), wp.float64(w))


@wp.func
def rotation(qpos: wp.array2d[wp.float64], world: int, i: int):
    return wp.quatd(qpos[world, i + 1], qpos[world, i + 2], qpos[world, i + 3], qpos[world, i])


@wp.func
def put_vector(values: wp.array2d[wp.float64], world: int, i: int, vector: wp.vec3d):
    for k in range(3):
        values[world, i + k] = vector[k]


@wp.func
def put_rotation(qpos: wp.array2d[wp.float64], world: int, i: int, turn: wp.quatd):
    qpos[world, i] = turn[3]
    for k in range(3):
        qpos[world, i + 1 + k] = turn[k]


@wp.kernel
def read_coordinates(
    joints: Joints,
    qpos: wp.array2d[wp.float64],
    qvel: wp.array2d[wp.float64],
    world_mask: wp.array[wp.bool],
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Read the joint coordinates and velocities of the masked worlds."""
    world = wp.tid()
    if not world_mask[world]:
        return
    first_q, first_qd = world * joints.coordinate_count, world * joints.dof_count
    for j in range(joints.kind.shape[0]):
        q, qd = first_q + joints.q[j], first_qd + joints.qd[j]
        i, v = joints.qpos[j], joints.qvel[j]
        p, c = wp.transform_get_rotation(joints.parent[world, j]), wp.transform_get_rotation(joints.child[world, j])
        if joints.kind[j] == FREE:
            u = wp.normalize(p * newton_rotation(joint_q, q + 3) * wp.quat_inverse(c))
            m = wp.quat_inverse(p) * u
            omega = wp.quat_rotate_inv(m, newton_vector(joint_qd, qd + 3))
            arm = wp.quat_rotate(m, wp.transform_get_translation(joints.child[world, j]))
            swing = wp.quat_rotate(m, wp.cross(omega, joints.com[world, j]))
            origin = wp.transform_get_translation(joints.parent[world, j])
            put_vector(qpos, world, i, origin + wp.quat_rotate(p, newton_vector(joint_q, q) - arm))
            put_rotation(qpos, world, i + 3, u)
            put_vector(qvel, world, v, wp.quat_rotate(p, newton_vector(joint_qd, qd) - swing))
            put_vector(qvel, world, v + 3, omega)
        elif joints.kind[j] == BALL:
            u = wp.normalize(c * newton_rotation(joint_q, q) * wp.quat_inverse(c))
            put_rotation(qpos, world, i, u)
            put_vector(qvel, world, v, wp.quat_rotate_inv(wp.quat_inverse(c) * u, newton_vector(joint_qd, qd)))
        else:
            for k in range(joints.qd_count[j]):
                qpos[world, i + k] = wp.float64(joint_q[q + k]) + joints.reference[world, joints.qd[j] + k]
                qvel[world, v + k] = wp.float64(joint_qd[qd + k])


@wp.kernel
def write_coordinates(
    joints: Joints,
    qpos: wp.array2d[wp.float64],
    qvel: wp.array2d[wp.float64],
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Write the coordinates and velocities of free and ball joints to Newton's state."""
    world = wp.tid()
    for j in range(joints.kind.shape[0]):
        q, qd = world * joints.coordinate_count + joints.q[j], world * joints.dof_count + joints.qd[j]
        i, v = joints.qpos[j], joints.qvel[j]
        if joints.kind[j] == FREE:
            to_parent = wp.quat_inverse(wp.transform_get_rotation(joints.parent[world, j]))
            m = to_parent * rotation(qpos, world, i + 3)
            omega = vector(qvel, world, v + 3)
            offset = vector(qpos, world, i) - wp.transform_get_translation(joints.parent[world, j])
            arm = wp.quat_rotate(m, wp.transform_get_translation(joints.child[world, j]))
            position = wp.quat_rotate(to_parent, offset) + arm
            turn = m * wp.transform_get_rotation(joints.child[world, j])
            swing = wp.quat_rotate(m, wp.cross(omega, joints.com[world, j]))
            velocity = wp.quat_rotate(to_parent, vector(qvel, world, v)) + swing
            spin = wp.quat_rotate(m, omega)
            for k in range(3):
                joint_q[q + k] = float(position[k])
                joint_qd[qd + k] = float(velocity[k])
                joint_qd[qd + 3 + k] = float(spin[k])
            for k in range(4):
                joint_q[q + 3 + k] = float(turn[k])
        else:
            c = wp.transform_get_rotation(joints.child[world, j])
            m = wp.quat_inverse(c) * rotation(qpos, world, i)
            turn = m * c
            spin = wp.quat_rotate(m, vector(qvel, world, v))
            for k in range(3):
                joint_qd[qd + k] = float(spin[k])
            for k in range(4):
                joint_q[q + k] = float(turn[k])


@wp.kernel
def write_wrenches(
    body_of: wp.array[int], body_count: int, xfrc: wp.array2d[wp.spatial_vectord], body_f: wp.array[wp.spatial_vector]
):
    """xfrc[body] = body_f[body_of[body]]: both act at the centre of mass, in world axes, force first."""
    world, body = wp.tid()
    if body_of[body] >= 0:
        xfrc[world, body] = wp.spatial_vectord(body_f[world * body_count + body_of[body]])


@wp.kernel
def write_efforts(
    joints: Joints,
    qpos: wp.array2d[wp.float64],
    qfrc: wp.array2d[wp.float64],
    xfrc: wp.array2d[wp.spatial_vectord],
    body_f: wp.array[wp.spatial_vector],
    joint_f: wp.array[float],
):
    """Write the efforts of free and ball joints.

    The effort of a free joint is a wrench on its body, and is added to `body_f`. Newton's torque on a ball joint
    has the axes of the parent anchor: it is rotated into the body's present frame.
    """
    world = wp.tid()
    for j in range(joints.kind.shape[0]):
        qd, v = world * joints.dof_count + joints.qd[j], joints.qvel[j]
        if joints.kind[j] == FREE:
            wrench = wp.spatial_vectord(body_f[world * joints.body_count + joints.newton_body[j]])
            for k in range(6):
                wrench[k] = wrench[k] + wp.float64(joint_f[qd + k])
            xfrc[world, joints.mujoco_body[j]] = wrench
        else:
            c = wp.transform_get_rotation(joints.child[world, j])
            m = wp.quat_inverse(c) * rotation(qpos, world, joints.qpos[j])
            put_vector(qfrc, world, v, wp.quat_rotate_inv(m, newton_vector(joint_f, qd)))
