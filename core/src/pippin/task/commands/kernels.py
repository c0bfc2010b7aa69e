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
    ranges: wp.array2d[float],
    standing: float,
    value: wp.array2d[float],
    headings: wp.array[float],
):
    """Draw velocities and headings by the ranges of x, y, yaw and heading; a share of the worlds stands still, without
    a heading.
    """
    world = wp.tid()
    if not world_mask[world]:
        return
    state = random_state(key, seeds[world], first_world + world, counts[world])
    for axis in range(3):
        value[world, axis] = wp.randf(state, ranges[axis, 0], ranges[axis, 1])
    headings[world] = wp.randf(state, ranges[3, 0], ranges[3, 1])
    if wp.randf(state) < standing:
        for axis in range(3):
            value[world, axis] = 0.0
        headings[world] = wp.nan


@wp.kernel
def hold_headings(
    body_q: wp.array[wp.transform],
    bodies: wp.array[int],
    stiffness: float,
    ranges: wp.array2d[float],
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
    value[world, 2] = wp.clamp(stiffness * error, ranges[2, 0], ranges[2, 1])
