"""Kernels that play the commands of logs, and that record the motion."""

import warp as wp


@wp.kernel
def play_commands(
    times: wp.array[wp.float64],
    commands: wp.array2d[float],
    columns: wp.array[int],
    first: wp.array[int],
    last: wp.array[int],
    start: wp.array[wp.float64],
    delays: wp.array[float],
    offsets: wp.array2d[float],
    counts: wp.array[wp.int64],
    dt: wp.float64,
    is_linear: bool,
    targets: wp.array2d[float],
):
    """Targets = the command at the time of the control step minus the delay, plus the offset of the encoder."""
    world, lane = wp.tid()
    column = columns[lane]
    if column >= 0:
        time = start[world] + wp.float64(counts[world]) * dt - wp.float64(delays[world])
        low = first[world]
        high = last[world]
        time = wp.max(time + wp.float64(1e-9), times[low])
        while high - low > 1:  # the last sample that is not later
            middle = (low + high) // 2
            if times[middle] <= time:
                low = middle
            else:
                high = middle
        if times[high] <= time:
            low = high
        value = commands[low, column]
        if is_linear:
            if low < last[world]:
                share = float((time - times[low]) / (times[low + 1] - times[low]))
                value += share * (commands[low + 1, column] - value)
        else:  # the mean of the held commands over the control step, which is smooth in the delay
            end = time + dt - wp.float64(2e-9)  # no share of a command that comes with the next control step
            while low < last[world] and times[low + 1] < end:
                share = float((end - times[low + 1]) / dt)
                value += share * (commands[low + 1, column] - commands[low, column])
                low += 1
        targets[world, lane] = value + offsets[world, column]


@wp.kernel
def keep_joints(
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
    coordinates: wp.array2d[int],
    dofs: wp.array2d[int],
    counts: wp.array[wp.int64],
    positions: wp.array3d[float],
    velocities: wp.array3d[float],
):
    """Keep joint coordinates and velocities as the row of the control step."""
    world, joint = wp.tid()
    row = int(counts[world])
    if row < positions.shape[0]:
        positions[row, world, joint] = joint_q[coordinates[world, joint]]
        velocities[row, world, joint] = joint_qd[dofs[world, joint]]


@wp.kernel
def count_step(counts: wp.array[wp.int64]):
    """Count a control step."""
    world = wp.tid()
    counts[world] += wp.int64(1)


@wp.kernel
def restore_numbers(
    world_mask: wp.array[wp.bool],
    values: wp.array2d[float],
    index: wp.array2d[int],
    numbers: wp.array[float],
):
    """Write the values of the masked worlds."""
    world, i = wp.tid()
    if world_mask[world]:
        numbers[index[world, i]] = values[world, i]
