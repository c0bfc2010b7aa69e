"""Kernels of events that change the state."""

import warp as wp

from .draws import EventDraws, StartRanges, draw_six, draw_start, state_in


@wp.kernel
def draw_joints(
    draws: EventDraws,
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
    draws: EventDraws,
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
    draws: EventDraws,
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
    draws: EventDraws,
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
    draws: EventDraws,
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
    draws: EventDraws,
    frames: wp.array[int],
    places: wp.array[wp.transform],
    poses: wp.array2d[wp.transform],
    velocities: wp.array2d[wp.spatial_vector],
    root: int,
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
    place = places[world]
    pose = place * poses[frames[world], root]
    velocity = velocities[frames[world], root]
    turn = wp.transform_get_rotation(place)
    linear = wp.quat_rotate(turn, wp.spatial_top(velocity))
    angular = wp.quat_rotate(turn, wp.spatial_bottom(velocity))
    turned = wp.quat_rpy(moved[3], moved[4], moved[5]) * wp.transform_get_rotation(pose)
    position = wp.transform_get_translation(pose) + wp.spatial_top(moved)
    write_root(starts, world, position, turned, wp.spatial_vector(linear, angular) + added, joint_q, joint_qd)


@wp.kernel
def start_joints(
    draws: EventDraws,
    frames: wp.array[int],
    positions: wp.array2d[float],
    velocities: wp.array2d[float],
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
    start = positions[frames[world], i]
    drawn = start + wp.randf(state, position[0], position[1])
    if lower[dof] < upper[dof]:
        middle = 0.5 * (lower[dof] + upper[dof])
        half = 0.5 * soft_limits * (upper[dof] - lower[dof])
        drawn = wp.clamp(drawn, wp.min(middle - half, start), wp.max(middle + half, start))
    joint_q[coordinates[world, i]] = drawn
    joint_qd[dof] = velocities[frames[world], i] + wp.randf(state, velocity[0], velocity[1])
