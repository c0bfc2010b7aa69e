"""Wrenches through joints."""

import warp as wp

__all__ = ["measure"]


@wp.kernel
def measure(
    joints: wp.array[int],
    joint_child: wp.array[int],
    joint_frame: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    body_parent_f: wp.array[wp.spatial_vector],
    force: wp.array[wp.vec3],
    torque: wp.array[wp.vec3],
):
    """Force = q⁻¹ f q and torque = q⁻¹ (τ + r × f) q, in the joint's frame on the child link, of orientation q.

    The solver reports f and τ about the centre of mass, in the world frame; r is the vector from the joint to it.
    """
    i = wp.tid()
    joint = joints[i]
    child = joint_child[joint]
    pose = body_q[child]
    frame = wp.transform_multiply(pose, joint_frame[joint])
    r = wp.transform_point(pose, body_com[child]) - wp.transform_get_translation(frame)
    f = wp.spatial_top(body_parent_f[child])
    q = wp.transform_get_rotation(frame)
    force[i] = wp.quat_rotate_inv(q, f)
    torque[i] = wp.quat_rotate_inv(q, wp.spatial_bottom(body_parent_f[child]) + wp.cross(r, f))
