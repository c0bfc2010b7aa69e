"""Kernels of actions."""

import warp as wp


@wp.kernel
def set_targets(
    action: wp.array2d[float],
    bounds: wp.vec2,
    scales: wp.array[float],
    offsets: wp.array2d[float],
    errors: wp.array2d[float],
    smoothing: float,
    targets: wp.array2d[float],
):
    """Target = offset + error + scale × clipped action, or between that and the last target."""
    world, i = wp.tid()
    clipped = wp.clamp(action[world, i], bounds[0], bounds[1])
    target = offsets[world, i] + errors[world, i] + scales[i] * clipped
    if smoothing > 0.0:
        target += smoothing * (targets[world, i] - target)
    targets[world, i] = target


@wp.kernel
def read_encoders(
    joint_q: wp.array[float], coordinates: wp.array2d[int], errors: wp.array2d[float], readings: wp.array2d[float]
):
    """Reading = q − error."""
    world, i = wp.tid()
    readings[world, i] = joint_q[coordinates[world, i]] - errors[world, i]


@wp.kernel
def set_goals(
    action: wp.array2d[float],
    bounds: wp.vec2,
    scales: wp.vec2,
    width: int,
    references: wp.array2d[wp.transform],
    goals: wp.array2d[wp.transform],
):
    """Goal = reference, shifted and turned in the world by the clipped numbers of its tool."""
    world, tool = wp.tid()
    shift, turn = wp.vec3(), wp.vec3()
    for axis in range(3):
        shift[axis] = scales[0] * wp.clamp(action[world, width * tool + axis], bounds[0], bounds[1])
        if width == 6:
            turn[axis] = scales[1] * wp.clamp(action[world, width * tool + 3 + axis], bounds[0], bounds[1])
    reference = references[world, tool]
    rotation = wp.transform_get_rotation(reference)
    angle = wp.length(turn)
    if angle > 0.0:
        rotation = wp.normalize(wp.quat_from_axis_angle(turn / angle, angle) * rotation)
    goals[world, tool] = wp.transform(wp.transform_get_translation(reference) + shift, rotation)


@wp.kernel
def keep_goals(world_mask: wp.array[wp.bool], goals: wp.array2d[wp.transform], starts: wp.array2d[wp.transform]):
    """Keep the goals of the masked worlds."""
    world, tool = wp.tid()
    if world_mask[world]:
        starts[world, tool] = goals[world, tool]


@wp.kernel
def set_gripper(
    action: wp.array2d[float], opened: wp.array[float], closed: wp.array[float], targets: wp.array2d[float]
):
    """Target = open if the number is above zero, else closed."""
    world, i = wp.tid()
    targets[world, i] = closed[i]
    if action[world, 0] > 0.0:
        targets[world, i] = opened[i]
