"""Kernels of commands."""

import warp as wp
from pippin.task import random_state


@wp.kernel
def draw_velocities(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    x: wp.vec2,
    y: wp.vec2,
    yaw: wp.vec2,
    heading: wp.vec2,
    standing: float,
    value: wp.array2d[float],
    headings: wp.array[float],
):
    """Draw velocities and headings; a share of the worlds stands still and has no heading."""
    world = wp.tid()
    if not world_mask[world]:
        return
    state = random_state(key, seeds[world], first_world + world, counts[world])
    value[world, 0] = wp.randf(state, x[0], x[1])
    value[world, 1] = wp.randf(state, y[0], y[1])
    value[world, 2] = wp.randf(state, yaw[0], yaw[1])
    headings[world] = wp.randf(state, heading[0], heading[1])
    if wp.randf(state) < standing:
        for axis in range(3):
            value[world, axis] = 0.0
        headings[world] = wp.nan


@wp.kernel
def hold_headings(
    body_q: wp.array[wp.transform],
    bodies: wp.array[int],
    stiffness: float,
    yaw: wp.vec2,
    headings: wp.array[float],
    value: wp.array2d[float],
):
    """Yaw rate = stiffness × angle from the body's x axis to the heading, within the range of yaw rates."""
    world = wp.tid()
    if wp.isnan(headings[world]):
        return
    forward = wp.quat_rotate(wp.transform_get_rotation(body_q[bodies[world]]), wp.vec3(1.0, 0.0, 0.0))
    error = headings[world] - wp.atan2(forward[1], forward[0])
    error = wp.atan2(wp.sin(error), wp.cos(error))
    value[world, 2] = wp.clamp(stiffness * error, yaw[0], yaw[1])
