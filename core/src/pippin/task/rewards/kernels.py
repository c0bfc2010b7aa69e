"""Kernels of rewards: one thread for each world."""

import warp as wp

TURN = wp.constant(6.283185307179586)


@wp.func
def rest(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    world: int,
    i: int,
) -> float:
    """Return x_i = value − target; targets have one row for all worlds, or one for each."""
    return values[world, columns[i]] - targets[world % targets.shape[0], target_columns[i]]


@wp.func
def shaped(x: float, wraps: int, bounds: wp.vec2) -> float:
    """Return x, first turned into the range from -pi to pi if it wraps, then clipped."""
    if wraps > 0:
        x -= TURN * wp.round(x / TURN)
    return wp.clamp(x, bounds[0], bounds[1])


@wp.kernel
def sum_values(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    out: wp.array[float],
):
    """Sum x."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        total += rest(values, columns, targets, target_columns, world, i)
    out[world] = total


@wp.kernel
def sum_absolute(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    wraps: int,
    bounds: wp.vec2,
    out: wp.array[float],
):
    """Sum abs(x)."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        total += wp.abs(shaped(rest(values, columns, targets, target_columns, world, i), wraps, bounds))
    out[world] = total


@wp.kernel
def sum_squares(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    wraps: int,
    bounds: wp.vec2,
    out: wp.array[float],
):
    """Sum x²."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        x = shaped(rest(values, columns, targets, target_columns, world, i), wraps, bounds)
        total += x * x
    out[world] = total


@wp.kernel
def bell(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    wraps: int,
    stds: wp.array[float],
    out: wp.array[float],
):
    """Exp(−sum of (x / std)²)."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        x = rest(values, columns, targets, target_columns, world, i)
        if wraps > 0:
            x -= TURN * wp.round(x / TURN)
        x = x / stds[i]
        total += x * x
    out[world] = wp.exp(-total)


@wp.kernel
def sum_excess(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    lows: wp.array2d[float],
    highs: wp.array2d[float],
    out: wp.array[float],
):
    """Sum how far x is outside its bounds; bounds have one row for all worlds, or one for each."""
    world = wp.tid()
    row = world % lows.shape[0]
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        x = rest(values, columns, targets, target_columns, world, i)
        total += wp.max(lows[row, i] - x, 0.0) + wp.max(x - highs[row, i], 0.0)
    out[world] = total


@wp.kernel
def is_inside(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    low: float,
    high: float,
    out: wp.array[float],
):
    """Write 1 if all x are within the bounds, else 0."""
    world = wp.tid()
    count = wp.int32(0)
    for i in range(columns.shape[0]):
        x = rest(values, columns, targets, target_columns, world, i)
        if x >= low and x <= high:
            count += 1
    out[world] = wp.where(count == columns.shape[0], 1.0, 0.0)


@wp.kernel
def tell_end(terminated: wp.array[wp.bool], of_end: float, of_life: float, out: wp.array[float]):
    """Write one value if a termination ends the episode, and another one if not."""
    world = wp.tid()
    out[world] = wp.where(terminated[world], of_end, of_life)


@wp.kernel
def sum_air_times(
    in_contact: wp.array2d[wp.bool],
    last_air_time: wp.array2d[float],
    threshold: float,
    command: wp.array2d[float],
    least_command: float,
    was_in_air: wp.array2d[wp.bool],
    out: wp.array[float],
):
    """Sum (last air time − threshold) over what lands in this step, in worlds whose command is large enough."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(in_contact.shape[1]):
        if in_contact[world, i] and was_in_air[world, i]:
            total += last_air_time[world, i] - threshold
        was_in_air[world, i] = not in_contact[world, i]
    if least_command >= 0.0:
        speed = wp.length(wp.vec2(command[world, 0], command[world, 1]))
        total = wp.where(speed > least_command, total, 0.0)
    out[world] = total


@wp.kernel
def forget_flights(world_mask: wp.array[wp.bool], was_in_air: wp.array2d[wp.bool]):
    """Forget what was in the air in the masked worlds."""
    world, i = wp.tid()
    if world_mask[world]:
        was_in_air[world, i] = False


@wp.kernel
def sum_slip(
    in_contact: wp.array2d[wp.bool],
    bodies: wp.array2d[int],
    body_qd: wp.array[wp.spatial_vector],
    out: wp.array[float],
):
    """Sum the horizontal speeds of the bodies in contact."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(in_contact.shape[1]):
        if in_contact[world, i]:
            velocity = wp.spatial_top(body_qd[bodies[world, i]])
            total += wp.length(wp.vec2(velocity[0], velocity[1]))
    out[world] = total


@wp.func
def largest_force(forces: wp.array3d[wp.vec3], world: int, i: int) -> float:
    """Return the largest of the readings of one body's net force [N]."""
    force = wp.float32(0.0)
    for k in range(forces.shape[2]):
        force = wp.max(force, wp.length(forces[world, i, k]))
    return force


@wp.kernel
def count_contacts(forces: wp.array3d[wp.vec3], threshold: float, out: wp.array[float]):
    """Count the bodies with a force above a threshold."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(forces.shape[1]):
        if largest_force(forces, world, i) > threshold:
            total += 1.0
    out[world] = total


@wp.kernel
def sum_excess_forces(forces: wp.array3d[wp.vec3], threshold: float, out: wp.array[float]):
    """Sum how far the forces on bodies are above a threshold [N]."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(forces.shape[1]):
        total += wp.max(largest_force(forces, world, i) - threshold, 0.0)
    out[world] = total
