"""Kernels of commands."""

import warp as wp

from pippin_task.draws import MaskedDraws, state_in


@wp.struct
class ClipArrays:
    """Arrays and numbers of the command `motion`, by their names there."""

    frames: wp.array[int]
    places: wp.array[wp.transform]
    joint_positions: wp.array2d[float]
    joint_velocities: wp.array2d[float]
    body_poses: wp.array2d[wp.transform]
    body_velocities: wp.array2d[wp.spatial_vector]
    bodies: wp.array2d[int]
    anchor: int
    root: int
    period: int
    stride: wp.transform


@wp.kernel
def draw_velocities(
    draws: MaskedDraws,
    ranges: wp.array2d[float],
    heading_share: float,
    straight: float,
    least_straight: float,
    standing: float,
    value: wp.array2d[float],
    headings: wp.array[float],
):
    """Draw velocities and headings by the ranges of x, y, yaw and heading. A share of the worlds has a heading; of all,
    some go straight ahead, and some stand still, both without one.
    """
    world = wp.tid()
    if not draws.world_mask[world]:
        return
    state = state_in(draws, world)
    for axis in range(3):
        value[world, axis] = wp.randf(state, ranges[axis, 0], ranges[axis, 1])
    headings[world] = wp.randf(state, ranges[3, 0], ranges[3, 1])
    stands = wp.randf(state) < standing
    goes_straight = wp.randf(state) < straight
    has_heading = wp.randf(state) < heading_share
    if goes_straight:
        value[world, 0] = wp.max(wp.abs(value[world, 0]), least_straight)
        value[world, 1] = 0.0
        value[world, 2] = 0.0
    if stands:
        for axis in range(3):
            value[world, axis] = 0.0
    if stands or goes_straight or not has_heading:
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


@wp.kernel
def draw_poses(draws: MaskedDraws, ranges: wp.array2d[float], value: wp.array2d[float]):
    """Draw positions by the ranges of x, y and z, and turns by those of roll, pitch and yaw, in this order."""
    world = wp.tid()
    if not draws.world_mask[world]:
        return
    state = state_in(draws, world)
    for axis in range(3):
        value[world, axis] = wp.randf(state, ranges[axis, 0], ranges[axis, 1])
    roll = wp.randf(state, ranges[3, 0], ranges[3, 1])
    pitch = wp.randf(state, ranges[4, 0], ranges[4, 1])
    yaw = wp.randf(state, ranges[5, 0], ranges[5, 1])
    turn = wp.quat_rpy(roll, pitch, yaw)
    for i in range(4):
        value[world, 3 + i] = turn[i]


@wp.kernel
def draw_frames(
    draws: MaskedDraws,
    clip: ClipArrays,
    way: int,
    sums: wp.array[float],
    shifts: wp.array[wp.vec3],
    steps: wp.array[int],
    is_drawn: wp.array[wp.bool],
):
    """Draw the frame to start from: the first one; any; or any of a bin, which is drawn by the running sums of weights.

    The clip begins at the place of the world, and no step of the episode counts yet.
    """
    world = wp.tid()
    if not draws.world_mask[world]:
        return
    state = state_in(draws, world)
    start_count = clip.body_poses.shape[0] - 1
    low = wp.float32(0.0)
    high = float(start_count)
    if way == 2:
        count = sums.shape[0]
        wanted = wp.randf(state) * sums[count - 1]
        chosen = wp.int32(0)
        while chosen < count - 1 and not (wanted < sums[chosen]):
            chosen += 1
        width = high / float(count)
        low = width * float(chosen)
        high = low + width
    frame = wp.int32(0)
    if way > 0:
        frame = wp.min(int(low + (high - low) * wp.randf(state)), start_count - 1)
    clip.frames[world] = frame
    clip.places[world] = wp.transform(shifts[world], wp.quat_identity())
    steps[world] = -1
    is_drawn[world] = True


@wp.kernel
def note_failures(
    step: wp.array[wp.int64],
    counted: wp.array[wp.int64],
    finished: wp.array[wp.bool],
    terminated: wp.array[wp.bool],
    bins: wp.array[int],
    fresh: wp.array[float],
):
    """Count the episodes that a termination ended in this control step, in the bin that they were in."""
    world = wp.tid()
    if counted[world] != step[0]:
        counted[world] = step[0]
        if finished[world] and terminated[world]:
            wp.atomic_add(fresh, bins[world], 1.0)


@wp.kernel
def add_failures(
    step: wp.array[wp.int64],
    counted: wp.array[wp.int64],
    memory: float,
    uniform: float,
    reach: int,
    decay: float,
    fresh: wp.array[float],
    failures: wp.array[float],
    sums: wp.array[float],
):
    """Failures = memory × new ones + (1 − memory) × failures; and the running sums of the weights of bins: the
    failures in a bin and in the next ones, which count less by `decay` for each, plus the uniform part.
    """
    count = failures.shape[0]
    if counted[counted.shape[0] - 1] == step[0]:
        return
    counted[counted.shape[0] - 1] = step[0]
    for i in range(count):
        failures[i] = memory * fresh[i] + (1.0 - memory) * failures[i]
        fresh[i] = 0.0
    total = wp.float32(0.0)
    for i in range(count):
        share = wp.float32(1.0)
        for k in range(reach):
            total += share * (failures[wp.min(i + k, count - 1)] + uniform / float(count))
            share *= decay
        sums[i] = total


@wp.kernel
def follow_clip(clip: ClipArrays, lengths: wp.array[int], steps: wp.array[int], bin_count: int, bins: wp.array[int]):
    """Advance by the control steps made since: to the last frame, or round a loop, whose place moves by its stride."""
    world = wp.tid()
    last = clip.body_poses.shape[0] - 1
    frame = clip.frames[world] + lengths[world] - steps[world]
    steps[world] = lengths[world]
    if clip.period > 0:
        while frame >= clip.period:
            frame -= clip.period
            clip.places[world] = clip.places[world] * clip.stride
    frame = wp.min(frame, last)
    clip.frames[world] = frame
    bins[world] = wp.min(frame * bin_count / last, bin_count - 1)


@wp.kernel
def read_targets(clip: ClipArrays, value: wp.array2d[float]):
    """Write the positions of the joints in the frame of each world, then their velocities."""
    world, i = wp.tid()
    count = clip.joint_positions.shape[1]
    if i < count:
        value[world, i] = clip.joint_positions[clip.frames[world], i]
    else:
        value[world, i] = clip.joint_velocities[clip.frames[world], i - count]
