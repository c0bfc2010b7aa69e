"""Kernels of rewards: one thread for each world."""

import warp as wp

TURN = wp.constant(6.283185307179586)


@wp.func
def value(x: float, low: float, high: float) -> float:
    """Return x."""
    return x


@wp.func
def absolute(x: float, low: float, high: float) -> float:
    """Return abs(x), with x clipped."""
    return wp.abs(wp.clamp(x, low, high))


@wp.func
def square(x: float, low: float, high: float) -> float:
    """Return x², with x clipped."""
    clipped = wp.clamp(x, low, high)
    return clipped * clipped


@wp.func
def scaled_square(x: float, low: float, std: float) -> float:
    """Return (x / std)²."""
    scaled = x / std
    return scaled * scaled


@wp.func
def excess(x: float, low: float, high: float) -> float:
    """Return how far x is outside its bounds."""
    return wp.max(low - x, 0.0) + wp.max(x - high, 0.0)


@wp.func
def squared_excess(x: float, low: float, high: float) -> float:
    """Return the square of how far x is outside its bounds."""
    distance = excess(x, low, high)
    return distance * distance


@wp.func
def is_outside(x: float, low: float, high: float) -> float:
    """Return 0 if x is within its bounds, else 1."""
    return wp.where(x >= low and x <= high, 0.0, 1.0)


@wp.func
def same(total: float) -> float:
    """Return the sum."""
    return total


@wp.func
def falling(total: float) -> float:
    """Return exp(−sum)."""
    return wp.exp(-total)


@wp.func
def nearness(total: float) -> float:
    """Return 1 − tanh of the square root of the sum."""
    return 1.0 - wp.tanh(wp.sqrt(total))


@wp.func
def root(total: float) -> float:
    """Return the square root of the sum."""
    return wp.sqrt(total)


@wp.func
def is_zero(total: float) -> float:
    """Return 1 if the sum is zero, else 0."""
    return wp.where(total == 0.0, 1.0, 0.0)


@wp.func
def is_not_zero(total: float) -> float:
    """Return 0 if the sum is zero, else 1."""
    return wp.where(total == 0.0, 0.0, 1.0)


def over_components(name: str, term: wp.Function, result: wp.Function = same) -> wp.Kernel:
    """Return a kernel that writes result(sum of term(x_i, low_i, high_i)) with x_i = value − target.

    Targets, lows and highs have one row for all worlds, or one for each. The kernels have names of their own: in a
    graph on the CPU, Warp finds a kernel by its name.
    """

    def kernel(
        values: wp.array2d[float],
        columns: wp.array[int],
        targets: wp.array2d[float],
        target_columns: wp.array[int],
        wraps: int,
        lows: wp.array2d[float],
        highs: wp.array2d[float],
        out: wp.array[float],
    ):
        world = wp.tid()
        row = world % lows.shape[0]
        total = wp.float32(0.0)
        for i in range(columns.shape[0]):
            x = values[world, columns[i]] - targets[world % targets.shape[0], target_columns[i]]
            if wraps > 0:
                x -= TURN * wp.round(x / TURN)
            total += term(x, lows[row, i], highs[row, i])
        out[world] = result(total)

    return wp.Kernel(kernel, key=name, module=wp.get_module(__name__))


sum_values = over_components("sum_values", value)
sum_absolute = over_components("sum_absolute", absolute)
sum_squares = over_components("sum_squares", square)
norm = over_components("norm", square, root)
sum_excess = over_components("sum_excess", excess)
distance = over_components("distance", squared_excess, root)
bell = over_components("bell", scaled_square, falling)
peak = over_components("peak", scaled_square, nearness)
is_inside = over_components("is_inside", is_outside, is_zero)
is_beyond = over_components("is_beyond", is_outside, is_not_zero)


AT_MARGIN = wp.constant(0.1)


@wp.kernel
def fall(form: int, margin: float, least: float, values: wp.array[float]):
    """Let a distance fall from 1 at 0 to 0.1 at the margin: as a bell, a line, a parabola or with a long tail."""
    world = wp.tid()
    share = values[world] / margin
    square = share * share
    if form == 0:
        values[world] = wp.exp(wp.log(AT_MARGIN) * square)
    elif form == 1:
        values[world] = wp.max(1.0 - (1.0 - AT_MARGIN) * share, 0.0)
    elif form == 2:
        values[world] = wp.max(1.0 - (1.0 - AT_MARGIN) * square, 0.0)
    else:
        values[world] = 1.0 / (1.0 + (1.0 / AT_MARGIN - 1.0) * square)
    values[world] = least + (1.0 - least) * values[world]


@wp.kernel
def read_end(terminated: wp.array[wp.bool], of_end: float, of_life: float, out: wp.array[float]):
    """Write one value if a termination ends the episode, and another one if not."""
    world = wp.tid()
    out[world] = wp.where(terminated[world], of_end, of_life)


@wp.kernel
def note_landings(
    in_contact: wp.array2d[wp.bool], counts_first: int, phases: wp.array2d[int], lands: wp.array2d[wp.bool]
):
    """Write what touches and was in the air in the step before, or in no step before; and note which touches now."""
    world, i = wp.tid()
    touches = in_contact[world, i]
    is_first = phases[world, i] == 0 and counts_first > 0
    lands[world, i] = touches and (phases[world, i] == 1 or is_first)
    phases[world, i] = wp.where(touches, 2, 1)


@wp.kernel
def sum_air_times(
    lands: wp.array2d[wp.bool],
    last_air_time: wp.array2d[float],
    threshold: float,
    command: wp.array2d[float],
    least_command: float,
    out: wp.array[float],
):
    """Sum (last air time − threshold) over what lands in this step, in worlds whose command is large enough."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(lands.shape[1]):
        if lands[world, i]:
            total += last_air_time[world, i] - threshold
    if least_command >= 0.0:
        speed = wp.length(wp.vec2(command[world, 0], command[world, 1]))
        total = wp.where(speed > least_command, total, 0.0)
    out[world] = total


@wp.kernel
def forget_flights(world_mask: wp.array[wp.bool], phases: wp.array2d[int], peaks: wp.array2d[float]):
    """Forget what was in the air in the masked worlds, and how high."""
    world, i = wp.tid()
    if world_mask[world]:
        phases[world, i] = 0
        peaks[world, i] = 0.0


@wp.kernel
def sum_landing_forces(lands: wp.array2d[wp.bool], forces: wp.array3d[wp.vec3], out: wp.array[float]):
    """Sum the net forces on what lands in this step [N]."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(lands.shape[1]):
        if lands[world, i]:
            total += wp.length(forces[world, i, 0])
    out[world] = total


@wp.kernel
def sum_swings(
    in_contact: wp.array2d[wp.bool],
    heights: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    lands: wp.array2d[wp.bool],
    peaks: wp.array2d[float],
    out: wp.array[float],
):
    """Sum (peak / target − 1)² over what lands in this step, with the largest height of each flight."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(in_contact.shape[1]):
        if in_contact[world, i]:
            if lands[world, i]:
                error = peaks[world, i] / targets[world % targets.shape[0], target_columns[i]] - 1.0
                total += error * error
            peaks[world, i] = 0.0
        else:
            peaks[world, i] = wp.max(peaks[world, i], heights[world, columns[i]])
    out[world] = total


@wp.func
def level_speed(pose: wp.transform, centre: wp.vec3, motion: wp.spatial_vector, point: wp.vec3) -> float:
    """Return the horizontal speed of a point, in axes of a body from its origin [m/s]."""
    arm = wp.quat_rotate(wp.transform_get_rotation(pose), point - centre)
    velocity = wp.spatial_top(motion) + wp.cross(wp.spatial_bottom(motion), arm)
    return wp.length(wp.vec2(velocity[0], velocity[1]))


@wp.kernel
def sum_slip(
    in_contact: wp.array2d[wp.bool],
    bodies: wp.array2d[int],
    points: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_qd: wp.array[wp.spatial_vector],
    squares: int,
    out: wp.array[float],
):
    """Sum the horizontal speeds of the bodies in contact, or their squares."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(in_contact.shape[1]):
        if in_contact[world, i]:
            body = bodies[world, i]
            speed = level_speed(body_q[body], body_com[body], body_qd[body], points[body])
            total += wp.where(squares > 0, speed * speed, speed)
    out[world] = total


@wp.kernel
def sum_clearance(
    heights: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    bodies: wp.array2d[int],
    points: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_qd: wp.array[wp.spatial_vector],
    out: wp.array[float],
):
    """Sum abs(height − target) · horizontal speed over bodies."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        error = heights[world, columns[i]] - targets[world % targets.shape[0], target_columns[i]]
        body = bodies[world, i]
        total += wp.abs(error) * level_speed(body_q[body], body_com[body], body_qd[body], points[body])
    out[world] = total


@wp.kernel
def count_contacts(forces: wp.array4d[wp.vec3], threshold: float, sums_excess: int, out: wp.array[float]):
    """Count the rows whose largest force is above a threshold, or sum how far they are above it [N]."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(forces.shape[1]):
        force = wp.float32(0.0)
        for k in range(forces.shape[2]):
            for partner in range(forces.shape[3]):
                force = wp.max(force, wp.length(forces[world, i, k, partner]))
        excess = force - threshold
        if excess > 0.0:
            total += wp.where(sums_excess > 0, excess, 1.0)
    out[world] = total
