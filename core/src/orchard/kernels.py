"""The host's own Warp kernels. Importing this module imports warp: do it inside the function that launches."""

import warp as wp

__all__ = [
    "add_efforts",
    "advance_step",
    "collect_overflow",
    "find_non_finite_bodies",
    "find_non_finite_particles",
    "mask_lanes",
    "note_contact_overflow",
    "restore_rows",
    "zero_efforts",
    "zero_lanes",
    "zero_vector_lanes",
]


@wp.kernel
def zero_efforts(dofs: wp.array[int], joint_f: wp.array[float]):
    """joint_f[dof] = 0 on the actuated DOFs alone."""
    joint_f[dofs[wp.tid()]] = 0.0


@wp.kernel
def add_efforts(dofs: wp.array[wp.uint32], efforts: wp.array[float], joint_f: wp.array[float]):
    """joint_f[dof] += effort; no two lanes share a DOF."""
    i = wp.tid()
    joint_f[dofs[i]] += efforts[i]


@wp.kernel
def mask_lanes(world_of_lane: wp.array[int], world_mask: wp.array[bool], lane_mask: wp.array[bool]):
    """lane_mask[i] = world_mask[world of lane i]."""
    i = wp.tid()
    lane_mask[i] = world_mask[world_of_lane[i]]


@wp.kernel
def zero_lanes(lane_mask: wp.array[bool], values: wp.array[float]):
    """values[i] = 0 in the masked lanes."""
    i = wp.tid()
    if lane_mask[i]:
        values[i] = 0.0


@wp.kernel
def zero_vector_lanes(world_of_lane: wp.array[int], world_mask: wp.array[bool], values: wp.array[wp.vec3]):
    """values[i] = 0 in the lanes of masked worlds."""
    i = wp.tid()
    if world_mask[world_of_lane[i]]:
        values[i] = wp.vec3()


@wp.kernel
def restore_rows(
    saved: wp.array2d[wp.uint8], world_of_row: wp.array[int], world_mask: wp.array[bool], rows: wp.array2d[wp.uint8]
):
    """Copy the saved bytes of each row whose world is masked."""
    row = wp.tid()
    if world_mask[world_of_row[row]]:
        for byte in range(rows.shape[1]):
            rows[row, byte] = saved[row, byte]


@wp.kernel
def find_non_finite_bodies(
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    failed_step: wp.array[int],
    first_body: wp.array[int],
):
    """Note the lowest body whose pose or velocity is not finite, until a step has been declared failed."""
    i = wp.tid()
    if failed_step[0] < 0:
        finite = wp.isfinite(body_qd[i])
        for k in range(7):
            finite = finite and wp.isfinite(body_q[i][k])
        if not finite:
            wp.atomic_min(first_body, 0, i)


@wp.kernel
def find_non_finite_particles(
    particle_q: wp.array[wp.vec3],
    particle_qd: wp.array[wp.vec3],
    failed_step: wp.array[int],
    first_particle: wp.array[int],
):
    """Note the lowest particle whose position or velocity is not finite, until a step has been declared failed."""
    i = wp.tid()
    if failed_step[0] < 0:
        if not (wp.isfinite(particle_q[i]) and wp.isfinite(particle_qd[i])):
            wp.atomic_min(first_particle, 0, i)


@wp.kernel
def advance_step(
    first_body: wp.array[int], first_particle: wp.array[int], step: wp.array[int], failed_step: wp.array[int]
):
    """Count the step, and remember the first one that left something non-finite behind."""
    if failed_step[0] < 0:
        if first_body[0] < NONE or first_particle[0] < NONE:
            failed_step[0] = step[0]
    step[0] += 1


@wp.kernel
def collect_overflow(observed: wp.array[int], overflow: wp.array[int]):
    """Keep every overflow bit that a solver reported for a world, until it is read and cleared."""
    world = wp.tid()
    overflow[world] = overflow[world] | observed[world]


@wp.kernel
def note_contact_overflow(count: wp.array[int], capacity: int, largest_excess: wp.array[int]):
    """Remember the largest contact count that did not fit into the buffer."""
    if count[0] > capacity:
        wp.atomic_max(largest_excess, 0, count[0])


NONE = wp.constant(2**31 - 1)
