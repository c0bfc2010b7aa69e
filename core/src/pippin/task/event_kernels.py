"""Kernels of events."""

import warp as wp

from .kernels import random_state


@wp.kernel
def draw_joints(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    coordinates: wp.array2d[int],
    dofs: wp.array2d[int],
    initial_q: wp.array[float],
    initial_qd: wp.array[float],
    lower: wp.array[float],
    upper: wp.array[float],
    position: wp.vec2,
    velocity: wp.vec2,
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Draw position and velocity of joints around their initial ones, within the limits."""
    world, i = wp.tid()
    if not world_mask[world]:
        return
    state = random_state(key, seeds[world], first_world + world, counts[world])
    state = wp.rand_init(wp.int32(state), i)
    q = coordinates[world, i]
    dof = dofs[world, i]
    drawn = initial_q[q] + wp.randf(state, position[0], position[1])
    if lower[dof] < upper[dof]:
        drawn = wp.clamp(drawn, wp.min(lower[dof], initial_q[q]), wp.max(upper[dof], initial_q[q]))
    joint_q[q] = drawn
    joint_qd[dof] = initial_qd[dof] + wp.randf(state, velocity[0], velocity[1])
