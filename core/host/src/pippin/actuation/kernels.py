"""Warp kernels of the actuator groups."""

import warp as wp
from pippin.state.kernels import random_state


@wp.kernel
def write_lanes(dofs: wp.array[int], values: wp.array[float], of_dofs: wp.array[float]):
    """of_dofs[dof] = the value of its lane."""
    i = wp.tid()
    of_dofs[dofs[i]] = values[i]


@wp.kernel
def limit_speeds(
    dofs: wp.array[wp.uint32],
    velocities: wp.array[float],
    limits: wp.array[float],
    impulses: wp.array[float],
    efforts: wp.array[float],
    limited: wp.array[float],
):
    """Cut efforts that would take joints beyond their velocity limits within the step."""
    i = wp.tid()
    effort = efforts[i]
    room = limits[dofs[i]] - wp.sign(effort) * velocities[dofs[i]]
    if room <= 0.0:
        effort = 0.0
    elif wp.abs(effort) > impulses[i] * room:
        effort = wp.sign(effort) * impulses[i] * room
    limited[i] = effort


@wp.kernel
def zero_efforts(dofs: wp.array[int], joint_f: wp.array[float]):
    """joint_f[dof] = 0 on the actuated DOFs alone."""
    joint_f[dofs[wp.tid()]] = 0.0


@wp.kernel
def add_efforts(dofs: wp.array[int], efforts: wp.array[float], joint_f: wp.array[float]):
    """joint_f[dof] += effort; no two lanes share a DOF."""
    i = wp.tid()
    joint_f[dofs[i]] += efforts[i]


@wp.kernel
def add_to(more: wp.array[float], total: wp.array[float]):
    """Total += more."""
    i = wp.tid()
    total[i] += more[i]


@wp.kernel
def subtract(targets: wp.array[float], offsets: wp.array[float], seen: wp.array[float]):
    """Seen = targets - offsets of each lane."""
    i = wp.tid()
    seen[i] = targets[i] - offsets[i]


@wp.kernel
def mark_saturated(computed: wp.array[float], applied: wp.array[float], saturated: wp.array[bool]):
    """saturated[i] = whether a limit changed the effort of a lane."""
    i = wp.tid()
    saturated[i] = computed[i] != applied[i]


@wp.kernel
def reset_lanes(
    world_of_lane: wp.array[int],
    world_mask: wp.array[bool],
    lane_mask: wp.array[bool],
    computed: wp.array[float],
    applied: wp.array[float],
):
    """Mask the lanes of the masked worlds, and set their efforts to zero."""
    i = wp.tid()
    lane_mask[i] = world_mask[world_of_lane[i]]
    if lane_mask[i]:
        computed[i] = 0.0
        applied[i] = 0.0


@wp.kernel
def draw_uniform(
    world_of_lane: wp.array[int],
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    width: int,
    low: wp.array[float],
    high: wp.array[float],
    values: wp.array[float],
):
    """values[i] = a random number from low[i] to high[i] in masked worlds, different for each lane and draw."""
    i = wp.tid()
    world = world_of_lane[i]
    if world_mask[world] and high[i] > low[i]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        values[i] = low[i] + (high[i] - low[i]) * wp.randf(wp.rand_init(wp.int32(state), i % width))


@wp.kernel
def draw_uniform_steps(
    world_of_lane: wp.array[int],
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    low: wp.array[float],
    high: wp.array[float],
    values: wp.array[int],
):
    """values[i] = a random integer from low[i] to high[i] in masked worlds, the same for all lanes of a world."""
    i = wp.tid()
    world = world_of_lane[i]
    if world_mask[world] and high[i] > low[i]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        values[i] = wp.randi(state, int(low[i]), int(high[i]) + 1)


@wp.func
def exchange(at: int, lane: int, keeps: bool, own: wp.array[float], last: wp.array[float], shared: wp.array[float]):
    """Let the written one of two equal numbers hold; a NaN in `shared` that is still there was not written again."""
    value = shared[at]
    if not keeps and value != last[lane] and not (wp.isnan(value) and wp.isnan(last[lane])):
        own[lane] = value
    shared[at] = own[lane]
    last[lane] = own[lane]


@wp.kernel
def exchange_targets(
    world_of_lane: wp.array[int],
    kept_worlds: wp.array[bool],
    dofs: wp.array[int],
    coordinates: wp.array[int],
    positions: wp.array[float],
    velocities: wp.array[float],
    last_positions: wp.array[float],
    last_velocities: wp.array[float],
    target_q: wp.array[float],
    target_qd: wp.array[float],
):
    """Take over the targets that were written into the arrays of all joints, and write all targets there.

    With kept worlds, write the lanes' own targets of these worlds alone, whatever was written there.
    """
    i = wp.tid()
    keeps = kept_worlds.shape[0] > 0
    if keeps and not kept_worlds[world_of_lane[i]]:
        return
    exchange(coordinates[i], i, keeps, positions, last_positions, target_q)
    exchange(dofs[i], i, keeps, velocities, last_velocities, target_qd)


@wp.kernel
def spread_targets(
    dofs: wp.array[wp.uint32],
    coordinates: wp.array[wp.uint32],
    positions: wp.array[float],
    velocities: wp.array[float],
    feedforward: wp.array[float],
    target_q: wp.array[float],
    target_qd: wp.array[float],
    act: wp.array[float],
    joint_f: wp.array[float],
    computed_f: wp.array[float],
):
    """Write the targets of each lane at its DOF and coordinate, and set its efforts to zero."""
    i = wp.tid()
    dof = dofs[i]
    target_q[coordinates[i]] = positions[i]
    target_qd[dof] = velocities[i]
    act[dof] = feedforward[i]
    joint_f[dof] = 0.0
    computed_f[dof] = 0.0


@wp.kernel
def gather_efforts(
    dofs: wp.array[wp.uint32],
    computed_f: wp.array[float],
    joint_f: wp.array[float],
    computed: wp.array[float],
    applied: wp.array[float],
):
    """Read the efforts of each lane; the applied effort last, because both may be one array."""
    i = wp.tid()
    computed[i] = computed_f[dofs[i]]
    applied[i] = joint_f[dofs[i]]
