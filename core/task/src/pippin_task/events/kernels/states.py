"""Kernels of events that change the state, or exert forces and torques."""

import warp as wp

from pippin_task.commands.kernels import ClipArrays
from pippin_task.draws import MaskedDraws, state_in


@wp.func
def draw_six(state: wp.uint32, low: wp.spatial_vector, high: wp.spatial_vector, std: float):
    """Return six numbers, uniform from low to high, plus normal ones."""
    drawn = wp.spatial_vector()
    for axis in range(6):
        of_axis = wp.rand_init(wp.int32(state), axis)
        drawn[axis] = wp.randf(of_axis, low[axis], high[axis]) + std * wp.randn(of_axis)
    return drawn


@wp.struct
class StartRanges:
    """Ranges of what is added to pose and velocity at a start."""

    low: wp.spatial_vector
    high: wp.spatial_vector
    velocity_low: wp.spatial_vector
    velocity_high: wp.spatial_vector
    velocity_std: float


@wp.func
def draw_start(state: wp.uint32, ranges: StartRanges):
    """Return what is added to a pose, with the turn in roll, pitch and yaw, and to a velocity."""
    moved = draw_six(wp.rand_init(wp.int32(state), 0), ranges.low, ranges.high, 0.0)
    of_velocity = wp.rand_init(wp.int32(state), 1)
    return moved, draw_six(of_velocity, ranges.velocity_low, ranges.velocity_high, ranges.velocity_std)


@wp.kernel
def draw_joints(
    draws: MaskedDraws,
    coordinates: wp.array2d[int],
    dofs: wp.array2d[int],
    initial_q: wp.array[float],
    initial_qd: wp.array[float],
    lower: wp.array[float],
    upper: wp.array[float],
    scale: wp.vec2,
    position: wp.vec2,
    velocity: wp.vec2,
    std: wp.vec2,
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Draw position and velocity of joints around their initial ones, within the limits."""
    world, i = wp.tid()
    if not draws.world_mask[world]:
        return
    state = state_in(draws, world)
    state = wp.rand_init(wp.int32(state), i)
    q = coordinates[world, i]
    dof = dofs[world, i]
    start = initial_q[q]
    drawn = start * wp.randf(state, scale[0], scale[1]) + wp.randf(state, position[0], position[1])
    drawn += std[0] * wp.randn(state)
    if lower[dof] < upper[dof]:
        drawn = wp.clamp(drawn, wp.min(lower[dof], start), wp.max(upper[dof], start))
    joint_q[q] = drawn
    joint_qd[dof] = initial_qd[dof] + wp.randf(state, velocity[0], velocity[1]) + std[1] * wp.randn(state)


TRIES = wp.constant(16)


@wp.kernel
def draw_points(
    draws: MaskedDraws,
    coordinates: wp.array[int],
    dofs: wp.array[int],
    centre: wp.vec2,
    first: wp.vec2,
    second: wp.vec2,
    distance: wp.vec2,
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Draw a point in the plane of two joints at an allowed distance from the centre."""
    world = wp.tid()
    if not draws.world_mask[world]:
        return
    state = state_in(draws, world)
    point = wp.vec2()
    for attempt in range(TRIES):
        apart = wp.length(point)
        if attempt == 0 or apart < distance[0] or apart > distance[1]:
            point = wp.vec2(wp.randf(state, first[0], first[1]), wp.randf(state, second[0], second[1]))
    apart = wp.length(point)
    if apart > 0.0:
        point = point * (wp.clamp(apart, distance[0], distance[1]) / apart)
    for i in range(2):
        joint_q[coordinates[2 * world + i]] = centre[i] + point[i]
        joint_qd[dofs[2 * world + i]] = 0.0


@wp.func
def write_root(
    starts: wp.array2d[int],
    world: int,
    position: wp.vec3,
    turn: wp.quat,
    velocity: wp.spatial_vector,
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Write the pose of a free body, and its velocity: first the linear part."""
    q = starts[world, 0]
    dof = starts[world, 1]
    turned = wp.normalize(turn)
    for axis in range(3):
        joint_q[q + axis] = position[axis]
    for part in range(4):
        joint_q[q + 3 + part] = turned[part]
    for axis in range(6):
        joint_qd[dof + axis] = velocity[axis]


@wp.kernel
def draw_objects(
    draws: MaskedDraws,
    particles: wp.array[int],
    worlds: wp.array[int],
    numbers: wp.array[int],
    centres: wp.array[wp.vec3],
    initial_q: wp.array[wp.vec3],
    initial_qd: wp.array[wp.vec3],
    shifts: wp.array[wp.vec3],
    ranges: StartRanges,
    particle_q: wp.array[wp.vec3],
    particle_qd: wp.array[wp.vec3],
):
    """Draw pose and velocity of objects of particles around their initial ones. `numbers` are those in a world."""
    i = wp.tid()
    world = worlds[i]
    if not draws.world_mask[world]:
        return
    moved, added = draw_start(wp.rand_init(wp.int32(state_in(draws, world)), numbers[i]), ranges)
    particle = particles[i]
    turn = wp.quat_rpy(moved[3], moved[4], moved[5])
    arm = wp.quat_rotate(turn, initial_q[particle] - centres[i])
    particle_q[particle] = centres[i] + shifts[world] + arm + wp.spatial_top(moved)
    velocity = wp.spatial_top(added) + wp.cross(wp.spatial_bottom(added), arm)
    particle_qd[particle] = wp.quat_rotate(turn, initial_qd[particle]) + velocity


@wp.kernel
def draw_roots(
    draws: MaskedDraws,
    starts: wp.array2d[int],
    initial_q: wp.array[float],
    initial_qd: wp.array[float],
    shifts: wp.array[wp.vec3],
    ranges: StartRanges,
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Draw pose and velocity of free bodies around their initial ones, which have moved by the shift of their world."""
    world = wp.tid()
    if not draws.world_mask[world]:
        return
    moved, added = draw_start(state_in(draws, world), ranges)
    q = starts[world, 0]
    dof = starts[world, 1]
    start = wp.quat(initial_q[q + 3], initial_q[q + 4], initial_q[q + 5], initial_q[q + 6])
    turn = wp.quat_rpy(moved[3], moved[4], moved[5]) * start
    position = wp.vec3(initial_q[q], initial_q[q + 1], initial_q[q + 2]) + shifts[world] + wp.spatial_top(moved)
    for axis in range(6):
        added[axis] = initial_qd[dof + axis] + added[axis]
    write_root(starts, world, position, turn, added, joint_q, joint_qd)


@wp.kernel
def push_roots(
    draws: MaskedDraws,
    starts: wp.array2d[int],
    low: wp.spatial_vector,
    high: wp.spatial_vector,
    joint_qd: wp.array[float],
):
    """Add to the velocity of free bodies."""
    world = wp.tid()
    if not draws.world_mask[world]:
        return
    added = draw_six(state_in(draws, world), low, high, 0.0)
    dof = starts[world, 1]
    for axis in range(6):
        joint_qd[dof + axis] += added[axis]


@wp.kernel
def start_roots(
    draws: MaskedDraws,
    clip: ClipArrays,
    starts: wp.array2d[int],
    ranges: StartRanges,
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Put free bodies where a motion has them, with its velocities, and add draws."""
    world = wp.tid()
    if not draws.world_mask[world]:
        return
    moved, added = draw_start(state_in(draws, world), ranges)
    place = clip.places[world]
    pose = place * clip.body_poses[clip.frames[world], clip.root]
    velocity = clip.body_velocities[clip.frames[world], clip.root]
    turn = wp.transform_get_rotation(place)
    linear = wp.quat_rotate(turn, wp.spatial_top(velocity))
    angular = wp.quat_rotate(turn, wp.spatial_bottom(velocity))
    turned = wp.quat_rpy(moved[3], moved[4], moved[5]) * wp.transform_get_rotation(pose)
    position = wp.transform_get_translation(pose) + wp.spatial_top(moved)
    write_root(starts, world, position, turned, wp.spatial_vector(linear, angular) + added, joint_q, joint_qd)


@wp.kernel
def start_joints(
    draws: MaskedDraws,
    clip: ClipArrays,
    coordinates: wp.array2d[int],
    dofs: wp.array2d[int],
    lower: wp.array[float],
    upper: wp.array[float],
    soft_limits: float,
    position: wp.vec2,
    velocity: wp.vec2,
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
):
    """Put joints where a motion has them, with its velocities, and add draws, within a share of the limits."""
    world, i = wp.tid()
    if not draws.world_mask[world]:
        return
    state = state_in(draws, world)
    state = wp.rand_init(wp.int32(state), i + 2)
    dof = dofs[world, i]
    start = clip.joint_positions[clip.frames[world], i]
    drawn = start + wp.randf(state, position[0], position[1])
    if lower[dof] < upper[dof]:
        middle = 0.5 * (lower[dof] + upper[dof])
        half = 0.5 * soft_limits * (upper[dof] - lower[dof])
        drawn = wp.clamp(drawn, wp.min(middle - half, start), wp.max(middle + half, start))
    joint_q[coordinates[world, i]] = drawn
    joint_qd[dof] = clip.joint_velocities[clip.frames[world], i] + wp.randf(state, velocity[0], velocity[1])


@wp.kernel
def draw_wrenches(
    draws: MaskedDraws,
    low: wp.spatial_vector,
    high: wp.spatial_vector,
    duration: wp.vec2,
    wrenches: wp.array2d[wp.spatial_vector],
    durations: wp.array2d[float],
    elapsed: wp.array2d[float],
):
    """Draw force, torque and length of the blow of each body, which begins now."""
    world, i = wp.tid()
    if not draws.world_mask[world]:
        return
    of_body = wp.rand_init(wp.int32(state_in(draws, world)), i)
    wrenches[world, i] = draw_six(wp.rand_init(wp.int32(of_body), 0), low, high, 0.0)
    durations[world, i] = wp.randf(wp.rand_init(wp.int32(of_body), 1), duration[0], duration[1])
    elapsed[world, i] = 0.0


@wp.kernel
def clear_wrenches(world_mask: wp.array[wp.bool], wrenches: wp.array2d[wp.spatial_vector]):
    """Let nothing act in the masked worlds."""
    world, i = wp.tid()
    if world_mask[world]:
        wrenches[world, i] = wp.spatial_vector()


@wp.kernel
def add_wrenches(
    bodies: wp.array2d[int],
    points: wp.array[wp.vec3],
    body_com: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    wrenches: wp.array2d[wp.spatial_vector],
    durations: wp.array2d[float],
    is_half_sine: int,
    dt: float,
    elapsed: wp.array2d[float],
    body_f: wp.array[wp.spatial_vector],
):
    """Add the mean wrench of each body over the next dt, with the force at its point, and count the time.

    By means, the impulse of a blow is that of its form, wherever it begins and ends within steps: over a half sine
    from t to t + h, the integral of sin(π t / T) is 2 T / π sin(π (t + h / 2) / T) sin(π h / (2 T)).
    """
    world, i = wp.tid()
    body = bodies[world, i]
    held = wp.clamp(durations[world, i] - elapsed[world, i], 0.0, dt)
    share = held / dt
    if is_half_sine > 0 and held > 0.0:
        rate = wp.pi / durations[world, i]
        middle = elapsed[world, i] + 0.5 * held
        share = 2.0 * wp.sin(rate * middle) * wp.sin(0.5 * rate * held) / (rate * dt)
    elapsed[world, i] = elapsed[world, i] + dt
    force = share * wp.spatial_top(wrenches[world, i])
    arm = wp.quat_rotate(wp.transform_get_rotation(body_q[body]), points[body] - body_com[body])
    torque = share * wp.spatial_bottom(wrenches[world, i]) + wp.cross(arm, force)
    body_f[body] += wp.spatial_vector(force, torque)
