"""The host's own Warp kernels."""

import warp as wp

__all__ = [
    "collect_overflow",
    "count_step",
    "find_non_finite_bodies",
    "find_non_finite_particles",
    "note_overflow",
    "restore_rows",
]


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
    step: wp.array[wp.int64],
    first_failure: wp.array[wp.int64],
):
    """first_failure = min(step × bodies + body) over non-finite bodies: earliest step, then lowest index."""
    i = wp.tid()
    pose = body_q[i]
    velocity = body_qd[i]
    # A sum is finite only if each term is finite; adding is cheaper than thirteen tests.
    total = 0.0
    for k in range(7):
        total += pose[k]
    for k in range(6):
        total += velocity[k]
    if not wp.isfinite(total):
        wp.atomic_min(first_failure, 0, step[0] * wp.int64(body_q.shape[0]) + wp.int64(i))


@wp.kernel
def find_non_finite_particles(
    particle_q: wp.array[wp.vec3],
    particle_qd: wp.array[wp.vec3],
    step: wp.array[wp.int64],
    first_failure: wp.array[wp.int64],
):
    """first_failure = min(step × particles + particle) over non-finite particles."""
    i = wp.tid()
    if not (wp.isfinite(particle_q[i]) and wp.isfinite(particle_qd[i])):
        wp.atomic_min(first_failure, 0, step[0] * wp.int64(particle_q.shape[0]) + wp.int64(i))


@wp.kernel
def count_step(step: wp.array[wp.int64]):
    """Step += 1."""
    step[0] += wp.int64(1)


@wp.kernel
def collect_overflow(reported: wp.array2d[int], overflow: wp.array[int]):
    """Collect the overflow bits that any substep reported for a world, until the host reads and clears them."""
    world = wp.tid()
    for substep in range(reported.shape[0]):
        overflow[world] = overflow[world] | reported[substep, world]


@wp.kernel
def note_overflow(count: wp.array[int], limit: int, slot: int, largest: wp.array[int]):
    """largest[slot] = max over the counts above `limit`: the worst overflow since the last clearing."""
    i = wp.tid()
    if count[i] > limit:
        wp.atomic_max(largest, slot, count[i])


@wp.kernel
def merge_mask(more: wp.array[wp.bool], mask: wp.array[wp.bool]):
    """Add the worlds of one mask to another."""
    world = wp.tid()
    if more[world]:
        mask[world] = True


@wp.kernel
def merge_articulations(world_of: wp.array[int], world_mask: wp.array[wp.bool], mask: wp.array[wp.bool]):
    """Add the articulations of the masked worlds to a mask; the last entry of `world_mask` is for world -1."""
    articulation = wp.tid()
    world = world_of[articulation]
    if world < 0:
        world = world_mask.shape[0] - 1
    if world_mask[world]:
        mask[articulation] = True


@wp.kernel
def forget_contacts(
    shape0: wp.array[int],
    shape1: wp.array[int],
    shape_world: wp.array[int],
    world_mask: wp.array[wp.bool],
    contact_f: wp.array[wp.spatial_vector],
):
    """Remove the contacts of the masked worlds from the buffer; the mask's last entry is for world -1."""
    i = wp.tid()
    a = shape0[i]
    b = shape1[i]
    if a < 0 or b < 0:
        return
    world = wp.max(shape_world[a], shape_world[b])
    if world < 0:
        world = world_mask.shape[0] - 1
    if world_mask[world]:
        shape0[i] = -1
        shape1[i] = -1
        contact_f[i] = wp.spatial_vector()
