"""Kernels of the solver that derives from Newton's `SolverXPBD`."""

import newton
import warp as wp

__all__ = [
    "correct_spin_at_the_end",
    "drive_from_here",
    "share_drives",
    "split_bodies",
    "take_spin_at_the_end",
    "turn_joints",
]

_FREE = wp.constant(int(newton.JointType.FREE))
_DISTANCE = wp.constant(int(newton.JointType.DISTANCE))


@wp.func
def frame_of_slides(first: int, linear: int, angular: int, axis: wp.array[wp.vec3]) -> wp.quat:
    """Return the turn that takes coordinate axes to the axes of slides, and x to that of one hinge beside them."""
    x = axis[first]
    if angular == 1:
        x = axis[first + linear]
    y = wp.vec3()
    for dof in range(first, first + linear):
        across = axis[dof] - wp.dot(axis[dof], x) * x
        if wp.length(y) == 0.0 and wp.length(across) > 0.5:
            y = wp.normalize(across)
    if wp.length(y) == 0.0:
        side = wp.vec3(1.0, 0.0, 0.0)
        if wp.abs(x[0]) > 0.7:
            side = wp.vec3(0.0, 1.0, 0.0)
        y = wp.normalize(wp.cross(x, side))
    return wp.quat_from_matrix(wp.matrix_from_cols(x, y, wp.cross(x, y)))


@wp.func
def nearest_axis(axis: wp.vec3) -> wp.vec3:
    """Return the coordinate axis that is next to an axis, without rounding: limits may be as far as 1e10."""
    largest = wp.argmax(wp.abs(axis))
    found = wp.vec3()
    found[largest] = wp.sign(axis[largest])
    return found


@wp.kernel(enable_backward=False)
def turn_joints(
    joint_type: wp.array[int],
    joint_qd_start: wp.array[int],
    joint_target_q_start: wp.array[int],
    joint_dof_dim: wp.array2d[int],
    is_in_mimic: wp.array[bool],
    parent_frame: wp.array[wp.transform],
    child_frame: wp.array[wp.transform],
    axis: wp.array[wp.vec3],
    lower: wp.array[float],
    upper: wp.array[float],
    target: wp.array[float],
    turned_parent_frame: wp.array[wp.transform],
    turned_child_frame: wp.array[wp.transform],
    turned_axis: wp.array[wp.vec3],
    turned_lower: wp.array[float],
    turned_upper: wp.array[float],
    turned_target: wp.array[float],
):
    """Write frames, axes, limits and targets of all joints, with both frames of a hinge turned: its axis is their x
    axis, and its angle is 0 in the middle of a range that goes beyond half a turn. Axes of slides are coordinate axes,
    and x is that of one hinge beside them.
    """
    joint = wp.tid()
    first = joint_qd_start[joint]
    for dof in range(first, joint_qd_start[joint + 1]):
        turned_axis[dof] = axis[dof]
        turned_lower[dof] = lower[dof]
        turned_upper[dof] = upper[dof]
    turn = wp.quat_identity()
    middle = float(0.0)  # noqa: UP018 (a variable that a branch changes)
    if joint_dof_dim[joint, 0] == 0 and joint_dof_dim[joint, 1] == 1:
        x = wp.vec3(1.0, 0.0, 0.0)
        turn = wp.quat_between_vectors(x, axis[first])
        turned_axis[first] = x
        is_far = wp.max(upper[first], -lower[first]) > wp.pi
        if is_far and upper[first] - lower[first] < 2.0 * wp.pi and not is_in_mimic[joint]:
            middle = 0.5 * (lower[first] + upper[first])
            turned_lower[first] = lower[first] - middle
            turned_upper[first] = upper[first] - middle
            turned_target[joint_target_q_start[joint]] = target[joint_target_q_start[joint]] - middle
        to_middle = wp.quat_from_axis_angle(x, middle)
        turned_parent_frame[joint] = parent_frame[joint] * wp.transform(wp.vec3(), turn * to_middle)
    else:
        linear, angular = joint_dof_dim[joint, 0], joint_dof_dim[joint, 1]
        if linear > 0 and joint_type[joint] != _FREE and joint_type[joint] != _DISTANCE:
            turn = frame_of_slides(first, linear, angular, axis)
            for dof in range(first, joint_qd_start[joint + 1]):
                turned_axis[dof] = wp.quat_rotate_inv(turn, axis[dof])
                if dof < first + linear or angular == 1:
                    turned_axis[dof] = nearest_axis(turned_axis[dof])
        turned_parent_frame[joint] = parent_frame[joint] * wp.transform(wp.vec3(), turn)
    turned_child_frame[joint] = child_frame[joint] * wp.transform(wp.vec3(), turn)


@wp.kernel(enable_backward=False)
def split_bodies(
    gain: wp.array[float],
    relaxation: float,
    bound: float,
    inv_mass: wp.array[float],
    inv_inertia: wp.array[wp.mat33],
    split_inv_mass: wp.array[float],
    split_inv_inertia: wp.array[wp.mat33],
):
    """Write how light a body is for one of its joints if all of them move it at once."""
    body = wp.tid()
    parts = wp.max(1.0, relaxation * gain[body] / bound)
    split_inv_mass[body] = parts * inv_mass[body]
    split_inv_inertia[body] = parts * inv_inertia[body]


@wp.kernel(enable_backward=False)
def share_drives(
    joint_qd_start: wp.array[int],
    joint_dof_dim: wp.array2d[int],
    linear_share: float,
    angular_share: float,
    ke: wp.array[float],
    kd: wp.array[float],
    shared_ke: wp.array[float],
    shared_kd: wp.array[float],
):
    """Write the part of the gains of each drive with which one iteration acts."""
    joint = wp.tid()
    first = joint_qd_start[joint]
    for dof in range(first, joint_qd_start[joint + 1]):
        share = angular_share
        if dof - first < joint_dof_dim[joint, 0]:
            share = linear_share
        shared_ke[dof] = share * ke[dof]
        shared_kd[dof] = share * kd[dof]


_SHORT = wp.constant(1e-3)
"""Time by which a drive without damping looks ahead, in steps."""


@wp.kernel(enable_backward=False)
def drive_from_here(
    dt: float,
    body_q: wp.array[wp.transform],
    joint_parent: wp.array[int],
    joint_child: wp.array[int],
    joint_qd_start: wp.array[int],
    joint_target_q_start: wp.array[int],
    joint_dof_dim: wp.array2d[int],
    parent_frame: wp.array[wp.transform],
    child_frame: wp.array[wp.transform],
    axis: wp.array[wp.vec3],
    lower: wp.array[float],
    upper: wp.array[float],
    ke: wp.array[float],
    target_qd: wp.array[float],
    kd: wp.array[float],
    target: wp.array[float],
    moved_target_qd: wp.array[float],
):
    """Move the targets of slides to where they are, and add to their target velocities what keeps the force.

    The force is ke (target - q) + kd (target velocity - v), whichever of the two targets has a part of it.
    """
    joint = wp.tid()
    at_parent = parent_frame[joint]
    if joint_parent[joint] >= 0:
        at_parent = body_q[joint_parent[joint]] * at_parent
    between = wp.transform_inverse(at_parent) * body_q[joint_child[joint]] * child_frame[joint]
    for i in range(joint_dof_dim[joint, 0]):
        dof, place = joint_qd_start[joint] + i, joint_target_q_start[joint] + i
        if ke[dof] > 0.0:
            q = wp.dot(axis[dof], wp.transform_get_translation(between))
            gap = wp.clamp(target[place], lower[dof], upper[dof]) - q
            stated = target_qd[dof]
            if kd[dof] <= _SHORT * dt * ke[dof]:
                stated = wp.where(kd[dof] > 0.0, stated, 0.0)
                kd[dof] = _SHORT * dt * ke[dof]
            moved_target_qd[dof] = stated + gap * ke[dof] / kd[dof]
            target[place] = q


@wp.func
def turned_at_the_end(spin: wp.vec3, residual: wp.vec3, inertia: wp.mat33, dt: float) -> wp.vec3:
    """Return the change of a spin by an iteration for ω in I ω + dt ω x I ω = b that starts with a residual."""
    slope = inertia + dt * (wp.skew(spin) * inertia - wp.skew(inertia * spin))
    return -(wp.inverse(slope) * residual)


@wp.kernel(enable_backward=False)
def take_spin_at_the_end(
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    body_f: wp.array[wp.spatial_vector],
    inertia: wp.array[wp.mat33],
    inv_inertia: wp.array[wp.mat33],
    dt: float,
    steadied_f: wp.array[wp.spatial_vector],
):
    """Write the forces on bodies with a torque that lets Newton's step have the gyroscopic torque of its end.

    It is that of one iteration for ω' in I (ω' - ω) + dt ω' x I ω' = 0, with ω after the other torques. Newton adds
    ω x I ω itself.
    """
    body = wp.tid()
    steadied_f[body] = body_f[body]
    if wp.trace(inv_inertia[body]) == 0.0:
        return
    rotation = wp.transform_get_rotation(body_q[body])
    force, torque = wp.spatial_top(body_f[body]), wp.spatial_bottom(body_f[body])
    own = inertia[body]
    start = wp.quat_rotate_inv(rotation, wp.spatial_bottom(body_qd[body]))
    spin = start + dt * (inv_inertia[body] * wp.quat_rotate_inv(rotation, torque))
    turned = turned_at_the_end(spin, wp.cross(spin, own * spin), own, dt)
    change = wp.cross(start, own * start) + own * turned
    steadied_f[body] = wp.spatial_vector(force, torque + wp.quat_rotate(rotation, change))


@wp.kernel(enable_backward=False)
def correct_spin_at_the_end(
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    inertia: wp.array[wp.mat33],
    inv_inertia: wp.array[wp.mat33],
    deltas: wp.array[wp.spatial_vector],
    inv_weights: wp.array[float],
    dt: float,
    steadied: wp.array[wp.spatial_vector],
):
    """Write corrections of bodies that hold the change of the gyroscopic torque, as it is with the corrected spin.

    It is that of one iteration for ω' in I (ω' - ω) + dt (ω' x I ω' - ω x I ω) = the correction. `inv_weights` may be
    None, and else divides the corrections.
    """
    body = wp.tid()
    steadied[body] = deltas[body]
    if wp.trace(inv_inertia[body]) == 0.0:
        return
    parts = float(1.0)  # noqa: UP018 (a variable that a branch changes)
    if inv_weights:
        parts = wp.max(inv_weights[body], 0.0)
        if parts == 0.0:
            parts = 1.0
    rotation = wp.transform_get_rotation(body_q[body])
    own = inertia[body]
    start = wp.quat_rotate_inv(rotation, wp.spatial_bottom(body_qd[body]))
    asked = wp.quat_rotate_inv(rotation, wp.spatial_bottom(deltas[body])) / parts
    spin = start + inv_inertia[body] * asked
    change = dt * (wp.cross(spin, own * spin) - wp.cross(start, own * start))
    turned = own * turned_at_the_end(spin, change, own, dt)
    steadied[body] = deltas[body] + wp.spatial_vector(wp.vec3(), parts * wp.quat_rotate(rotation, turned))
