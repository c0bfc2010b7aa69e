"""The kernels: one thread for each world."""

import warp as wp
from pippin.state import random_state


@wp.kernel
def measure_lean(body_q: wp.array[wp.transform], bodies: wp.array[int], out: wp.array2d[float]):
    """The horizontal part of the body's z axis."""
    world = wp.tid()
    axis = wp.quat_rotate(wp.transform_get_rotation(body_q[bodies[world]]), wp.vec3(0.0, 0.0, 1.0))
    out[world, 0] = axis[0]
    out[world, 1] = axis[1]


@wp.kernel
def plateau(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    radius: float,
    out: wp.array[float],
):
    """min(1, max(0, 2 − distance / radius))."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        x = values[world, columns[i]] - targets[world % targets.shape[0], target_columns[i]]
        total += x * x
    out[world] = wp.clamp(2.0 - wp.sqrt(total) / radius, 0.0, 1.0)


@wp.kernel
def count_lying(
    body_q: wp.array[wp.transform],
    bodies: wp.array[int],
    height: float,
    allowed: int,
    steps: wp.array[int],
    out: wp.array[wp.bool],
):
    """Steps in a row below a height; too many end the episode."""
    world = wp.tid()
    count = wp.int32(0)
    if wp.transform_get_translation(body_q[bodies[world]])[2] < height:
        count = steps[world] + 1
    steps[world] = count
    out[world] = count > allowed


@wp.kernel
def forget(world_mask: wp.array[wp.bool], steps: wp.array[int]):
    """Zero in the masked worlds."""
    world = wp.tid()
    if world_mask[world]:
        steps[world] = 0


@wp.kernel
def spin(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    starts: wp.array2d[int],
    rate: float,
    joint_qd: wp.array[float],
):
    """Add a uniform rate about z to the free joint whose velocities begin at `starts[world, 1]`."""
    world = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        joint_qd[starts[world, 1] + 5] += wp.randf(state, -rate, rate)
