"""Kernels of an IMU.

`bodies` is the body of each site, and `frames` the pose of the site in the body's frame. Velocities and accelerations
of bodies are those of the centre of mass, in the world frame, linear part first.
"""

import warp as wp

__all__ = ["differentiate", "measure", "orient", "site_velocities"]


@wp.func
def arm(body_pose: wp.transform, frame: wp.transform, com: wp.vec3):
    """Return the vector from the centre of mass to the site [m], in the world frame."""
    return wp.quat_rotate(wp.transform_get_rotation(body_pose), wp.transform_get_translation(frame) - com)


@wp.func
def turn(body_pose: wp.transform, frame: wp.transform):
    """Return the orientation of the site in the world."""
    return wp.transform_get_rotation(body_pose) * wp.transform_get_rotation(frame)


@wp.func
def site_velocity(velocity: wp.spatial_vector, r: wp.vec3):
    """Return v + ω × r."""
    return wp.spatial_top(velocity) + wp.cross(wp.spatial_bottom(velocity), r)


@wp.kernel
def orient(
    bodies: wp.array[int],
    frames: wp.array[wp.transform],
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    angular_velocity: wp.array[wp.vec3],
    orientation: wp.array[wp.quat],
):
    """Angular velocity = q⁻¹ ω q with the orientation q of the site: the outputs that need no step."""
    i = wp.tid()
    body = bodies[i]
    q = turn(body_q[body], frames[i])
    angular_velocity[i] = wp.quat_rotate_inv(q, wp.spatial_bottom(body_qd[body]))
    orientation[i] = q


@wp.kernel
def measure(
    bodies: wp.array[int],
    frames: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_world: wp.array[int],
    gravity: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    body_qdd: wp.array[wp.spatial_vector],
    linear_acceleration: wp.array[wp.vec3],
    angular_velocity: wp.array[wp.vec3],
    orientation: wp.array[wp.quat],
):
    """Specific force = q⁻¹ (a − g + ω̇ × r + ω × (ω × r)) q."""
    i = wp.tid()
    body = bodies[i]
    pose = body_q[body]
    frame = frames[i]
    acceleration = body_qdd[body]
    omega = wp.spatial_bottom(body_qd[body])
    r = arm(pose, frame, body_com[body])
    force = (
        wp.spatial_top(acceleration)
        - gravity[body_world[body]]
        + wp.cross(wp.spatial_bottom(acceleration), r)
        + wp.cross(omega, wp.cross(omega, r))
    )
    q = turn(pose, frame)
    linear_acceleration[i] = wp.quat_rotate_inv(q, force)
    angular_velocity[i] = wp.quat_rotate_inv(q, omega)
    orientation[i] = q


@wp.kernel
def differentiate(
    bodies: wp.array[int],
    frames: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_world: wp.array[int],
    gravity: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    sites_per_world: int,
    intervals: wp.array[float],
    velocities: wp.array[wp.vec3],
    linear_acceleration: wp.array[wp.vec3],
    angular_velocity: wp.array[wp.vec3],
    orientation: wp.array[wp.quat],
):
    """Specific force = q⁻¹ (Δv / Δt − g) q, with the velocity v of the site and its change since `velocities`."""
    i = wp.tid()
    body = bodies[i]
    pose = body_q[body]
    frame = frames[i]
    velocity = site_velocity(body_qd[body], arm(pose, frame, body_com[body]))
    force = (velocity - velocities[i]) / intervals[i // sites_per_world] - gravity[body_world[body]]
    velocities[i] = velocity
    q = turn(pose, frame)
    linear_acceleration[i] = wp.quat_rotate_inv(q, force)
    angular_velocity[i] = wp.quat_rotate_inv(q, wp.spatial_bottom(body_qd[body]))
    orientation[i] = q


@wp.kernel
def site_velocities(
    bodies: wp.array[int],
    frames: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    velocities: wp.array[wp.vec3],
):
    """Velocities of the sites [m/s], in the world frame."""
    i = wp.tid()
    body = bodies[i]
    velocities[i] = site_velocity(body_qd[body], arm(body_q[body], frames[i], body_com[body]))
