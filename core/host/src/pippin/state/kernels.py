"""The host's own Warp kernels."""

from typing import Any

import warp as wp

Mask, Ints, Floats, Floats2d = wp.array[wp.bool], wp.array[int], wp.array[float], wp.array2d[float]
Longs, Longs2d, Vectors = wp.array[wp.int64], wp.array2d[wp.int64], wp.array[wp.vec3]
Poses, Twists = wp.array[wp.transform], wp.array[wp.spatial_vector]


@wp.struct
class RowCopy:
    """The bytes of an array's rows, saved ones, and the world of each row."""

    saved: wp.array2d[wp.uint8]
    rows: wp.array2d[wp.uint8]
    world_of_row: wp.array[int]


@wp.func
def restore_row(row: int, world_mask: Mask, copy: RowCopy):
    """Copy the saved bytes of a row if its world is masked."""
    if row < copy.rows.shape[0] and world_mask[copy.world_of_row[row]]:
        for byte in range(copy.rows.shape[1]):
            copy.rows[row, byte] = copy.saved[row, byte]


@wp.kernel
def restore_rows(world_mask: Mask, copy0: RowCopy, copy1: RowCopy, copy2: RowCopy, copy3: RowCopy):
    """Copy the saved bytes of each row whose world is masked, in up to four arrays."""
    row = wp.tid()
    restore_row(row, world_mask, copy0)
    restore_row(row, world_mask, copy1)
    restore_row(row, world_mask, copy2)
    restore_row(row, world_mask, copy3)


@wp.kernel
def difference_quotient(before: Twists, after: Twists, dt: float, quotient: Twists):
    """quotient[i] = (after[i] − before[i]) / dt."""
    i = wp.tid()
    quotient[i] = (after[i] - before[i]) / dt


@wp.func
def note_failure(
    first: Longs2d, kind: int, world: int, step: wp.int64, index: int, count: int, value: float, values: Floats
):
    """Keep a failure if none of its kind was before it in its world, and its value beside it."""
    row = world
    if world < 0:
        row = first.shape[1] - 1
    code = step * wp.int64(count) + wp.int64(index)
    if code < first[kind, row]:
        values[index] = value
        wp.atomic_min(first, kind, row, code)


@wp.kernel
def find_divergence(
    body_q: Poses,
    body_qd: Twists,
    joint_qd: Floats,
    joint_f: Floats,
    body_world: Ints,
    dof_world: Ints,
    max_speed: float,
    max_effort: float,
    step: Longs,
    first: Longs2d,
    body_speed: Floats,
    joint_speed: Floats,
    effort: Floats,
):
    """first[k, world] = min(step × count + index) over the elements that failed: earliest step, then lowest index.

    The kinds k are those of `FailureKind`; the last column is for elements of no world.

    Launched over the larger of the numbers of bodies and of DOFs.
    """
    i = wp.tid()
    if i < body_q.shape[0]:
        pose = body_q[i]
        velocity = body_qd[i]
        # A sum is finite only if each term is finite; adding is cheaper than thirteen tests.
        total = 0.0
        for k in range(7):
            total += pose[k]
        speed = wp.abs(velocity[0])
        for k in range(6):
            total += velocity[k]
            speed = wp.max(speed, wp.abs(velocity[k]))
        if not wp.isfinite(total):
            note_failure(first, 1, body_world[i], step[0], i, body_q.shape[0], speed, body_speed)
        elif speed > max_speed:
            note_failure(first, 5, body_world[i], step[0], i, body_q.shape[0], speed, body_speed)
    if i < joint_qd.shape[0]:
        # A comparison with a number that is not finite is false.
        if not wp.abs(joint_qd[i]) <= max_speed:
            note_failure(first, 3, dof_world[i], step[0], i, joint_qd.shape[0], joint_qd[i], joint_speed)
        if not wp.abs(joint_f[i]) <= max_effort:
            note_failure(first, 4, dof_world[i], step[0], i, joint_qd.shape[0], joint_f[i], effort)


@wp.kernel
def find_diverged_particles(
    particle_q: Vectors,
    particle_qd: Vectors,
    particle_world: Ints,
    max_speed: float,
    step: Longs,
    first: Longs2d,
    particle_speed: Floats,
):
    """first[k, world] = min(step × particles + particle) over particles that are not finite, or too fast."""
    i = wp.tid()
    velocity = particle_qd[i]
    speed = wp.max(wp.abs(velocity))
    if not (wp.isfinite(particle_q[i]) and wp.isfinite(velocity)):
        note_failure(first, 2, particle_world[i], step[0], i, particle_q.shape[0], speed, particle_speed)
    elif speed > max_speed:
        note_failure(first, 6, particle_world[i], step[0], i, particle_q.shape[0], speed, particle_speed)


@wp.kernel
def find_non_finite_inputs(
    inputs0: Floats2d,
    inputs1: Floats2d,
    inputs2: Floats2d,
    world_of_row: Ints,
    offset: int,
    count: int,
    step: Longs,
    first: Longs2d,
):
    """first[0, world] = min(step × count + index) over the numbers that are not finite.

    Up to three arrays of one shape, whose indices follow each other; those that are missing have no rows.
    """
    row, column = wp.tid()
    index = wp.int64(offset + row * inputs0.shape[1] + column)
    size = wp.int64(inputs0.shape[0] * inputs0.shape[1])
    code = step[0] * wp.int64(count) + index
    if not wp.isfinite(inputs0[row, column]):
        wp.atomic_min(first, 0, world_of_row[row], code)
    if row < inputs1.shape[0] and not wp.isfinite(inputs1[row, column]):
        wp.atomic_min(first, 0, world_of_row[row], code + size)
    if row < inputs2.shape[0] and not wp.isfinite(inputs2[row, column]):
        wp.atomic_min(first, 0, world_of_row[row], code + size + size)


@wp.kernel
def forget_failures(world_mask: Mask, none: wp.int64, first: Longs2d, overflow: Ints, largest: Ints):
    """Clear the notes of the masked worlds; those of buffers that all worlds share with the mask's last entry."""
    world = wp.tid()
    if not world_mask[world]:
        return
    for kind in range(first.shape[0]):
        first[kind, world] = none
    if world < overflow.shape[0]:
        overflow[world] = 0
    else:
        for slot in range(largest.shape[0]):
            largest[slot] = 0


@wp.kernel
def collect_ended(world_mask: Mask, countdown: Ints, are_any: Ints):
    """are_any[0] = 1 if a world is masked; the first one is when the countdown, if it runs, reaches zero."""
    world = wp.tid()
    if world == 0 and countdown[0] > 0:
        countdown[0] -= 1
        if countdown[0] == 0:
            world_mask[0] = True
    if world_mask[world]:
        are_any[0] = 1


@wp.kernel
def mark_failed(first: Longs2d, none: wp.int64, failed: Mask):
    """failed[world] is true if the world has a note of a failure."""
    world = wp.tid()
    failures = wp.int32(0)
    for kind in range(first.shape[0]):
        if first[kind, world] < none:
            failures += 1
    failed[world] = failures > 0


@wp.kernel
def count_step(step: Longs):
    """Step += 1."""
    step[0] += wp.int64(1)


@wp.kernel
def collect_overflow(reported: wp.array2d[int], harmless: int, overflow: Ints, harmless_count: Longs):
    """Collect the overflow bits that any substep reported for a world, until the host reads and clears them.

    harmless_count[0] += substeps of a world that reported harmless bits.
    """
    world = wp.tid()
    for substep in range(reported.shape[0]):
        bits = reported[substep, world]
        if bits != 0:
            overflow[world] = overflow[world] | bits
            if (bits & harmless) != 0:
                wp.atomic_add(harmless_count, 0, wp.int64(1))


@wp.func
def note_count(count: Ints, i: int, limit: int, slot: int, largest: Ints):
    """largest[slot] = max(largest[slot], count[i]) if count[i] is above `limit`; the first time, say so."""
    if i >= count.shape[0]:
        return
    if count[i] > limit and wp.atomic_max(largest, slot, count[i]) == 0:
        wp.printf("a buffer is full (%d elements): raise_errors() tells which, and what to set\n", count[i])


@wp.kernel
def note_overflows(count0: Ints, count1: Ints, count2: Ints, limits: wp.vec3i, slots: wp.vec3i, largest: Ints):
    """largest[slot] = max over the counts above a limit, for three buffers: the worst overflow since the last clearing.

    Launched over the largest of the numbers of counts. One launch for three buffers costs as much as one for one.
    """
    i = wp.tid()
    note_count(count0, i, limits[0], slots[0], largest)
    note_count(count1, i, limits[1], slots[1], largest)
    note_count(count2, i, limits[2], slots[2], largest)


@wp.kernel
def merge_mask(more: Mask, mask: Mask):
    """Add the worlds of one mask to another."""
    world = wp.tid()
    if more[world]:
        mask[world] = True


@wp.kernel
def merge_articulations(world_of: Ints, world_mask: Mask, mask: Mask):
    """Add the articulations of the masked worlds to a mask; the last entry of `world_mask` is for world -1."""
    articulation = wp.tid()
    world = world_of[articulation]
    if world < 0:
        world = world_mask.shape[0] - 1
    if world_mask[world]:
        mask[articulation] = True


@wp.kernel
def unwrap_angles(
    coordinates: Ints,
    dofs: Ints,
    weights: Floats,
    last_q: Floats,
    last_qd: Floats,
    joint_qd: Floats,
    dt: float,
    joint_q: Floats,
):
    """Add whole turns to each angle, so that it is the nearest to last_q + dt × mean velocity × weight.

    The sum is added in place, and whole turns have no derivative, so a tape sees the angle of inverse kinematics.
    """
    i = wp.tid()
    q = coordinates[i]
    dof = dofs[i]
    expected = last_q[q] + 0.5 * dt * weights[i] * (last_qd[dof] + joint_qd[dof])
    turns = wp.round((expected - joint_q[q]) / wp.tau)
    if turns != 0.0 and wp.isfinite(turns):
        joint_q[q] += turns * wp.tau


@wp.kernel
def forget_contacts(shape0: Ints, shape1: Ints, shape_world: Ints, world_mask: Mask, contact_f: Twists):
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


@wp.func
def random_state(key: int, seed: int, world: int, count: int) -> wp.uint32:
    """Return the state of the random numbers of a name, by its key, seed, global world and count of draws."""
    state = wp.rand_init(seed, key)
    state = wp.rand_init(wp.int32(state), world)
    return wp.rand_init(wp.int32(state), count)


@wp.kernel
def count_draws(world_mask: Mask, counts: Ints):
    """counts[w] += 1 in the masked worlds."""
    world = wp.tid()
    if world_mask[world]:
        counts[world] += 1


@wp.func
def vector_itself(value: wp.vec3):
    """Return the vector."""
    return value


@wp.struct
class Parts:
    """Sums and extremes of parts of groups, each of shape [groups, parts]."""

    sums: wp.array2d(dtype=wp.vec3)
    lows: wp.array2d(dtype=wp.vec3)
    highs: wp.array2d(dtype=wp.vec3)
    lengths: wp.array2d(dtype=float)
    longest: wp.array2d(dtype=float)
    inside: wp.array2d(dtype=float)


def _spread(dtype: Any, vector_of: wp.Function) -> wp.Kernel:

    def spread(
        source: wp.array(dtype=dtype),
        groups: wp.array2d[int],
        width: int,
        box_low: wp.vec3,
        box_high: wp.vec3,
        parts: Parts,
    ):
        group, k = wp.tid()
        total = wp.vec3(0.0)
        low = wp.vec3(wp.inf)
        high = wp.vec3(-wp.inf)
        lengths = wp.float32(0.0)
        longest = wp.float32(0.0)
        inside = wp.float32(0.0)
        for column in range(k * width, wp.min((k + 1) * width, groups.shape[1])):
            element = groups[group, column]
            if element >= 0:
                value = vector_of(source[element])
                total += value
                low = wp.min(low, value)
                high = wp.max(high, value)
                lengths += wp.length(value)
                longest = wp.max(longest, wp.length(value))
                if wp.min(box_low, value) == box_low and wp.max(box_high, value) == box_high:
                    inside += 1.0
        parts.sums[group, k] = total
        parts.lows[group, k] = low
        parts.highs[group, k] = high
        parts.lengths[group, k] = lengths
        parts.longest[group, k] = longest
        parts.inside[group, k] = inside

    return wp.Kernel(spread, key=f"spread_of_{dtype.__name__}")


SPREAD = {
    wp.vec3: _spread(wp.vec3, vector_itself),
    wp.transform: _spread(wp.transform, wp.transform_get_translation),
    wp.spatial_vector: _spread(wp.spatial_vector, wp.spatial_top),
}
"""The kernels by the type of an element; each has a name of its own, because graphs on the CPU find kernels by name."""


@wp.kernel
def join_spreads(
    counts: Ints,
    parts: Parts,
    mean: Vectors,
    bounds: wp.array2d[wp.vec3],
    extent: Vectors,
    mean_length: Floats,
    largest_length: Floats,
    inside: Floats,
):
    """Join the parts of each group, in their order."""
    group = wp.tid()
    total = wp.vec3(0.0)
    lowest = wp.vec3(wp.inf)
    highest = wp.vec3(-wp.inf)
    lengths = wp.float32(0.0)
    longest = wp.float32(0.0)
    count_inside = wp.float32(0.0)
    for k in range(parts.sums.shape[1]):
        total += parts.sums[group, k]
        lowest = wp.min(lowest, parts.lows[group, k])
        highest = wp.max(highest, parts.highs[group, k])
        lengths += parts.lengths[group, k]
        longest = wp.max(longest, parts.longest[group, k])
        count_inside += parts.inside[group, k]
    count = float(counts[group])
    mean[group] = total / count
    bounds[group, 0] = lowest
    bounds[group, 1] = highest
    extent[group] = highest - lowest
    mean_length[group] = lengths / count
    largest_length[group] = longest
    inside[group] = count_inside / count


@wp.kernel
def find_places(
    levels: Ints, columns: Ints, spawns: wp.array2d[wp.vec3], first_places: Vectors, places: Vectors, shifts: Vectors
):
    """Look up where each world starts, and how far this is from its first start [m]."""
    world = wp.tid()
    place = spawns[levels[world], columns[world]]
    places[world] = place
    shifts[world] = place - first_places[world]


@wp.kernel
def shift_joints(world_mask: Mask, shifts: Vectors, worlds: Ints, starts: Ints, joint_q: Floats):
    """Move free joints of the masked worlds by the shift of their world."""
    i = wp.tid()
    world = worlds[i]
    if world_mask[world]:
        for axis in range(3):
            joint_q[starts[i] + axis] += shifts[world][axis]


@wp.kernel
def shift_particles(world_mask: Mask, shifts: Vectors, worlds: Ints, particle_q: Vectors):
    """Move the particles of the masked worlds by the shift of their world."""
    i = wp.tid()
    world = worlds[i]
    if world >= 0 and world_mask[world]:
        particle_q[i] += shifts[world]


@wp.kernel
def note_any(world_mask: Mask, are_any: Ints):
    """Set are_any to 1 if a world is masked."""
    if world_mask[wp.tid()]:
        are_any[0] = 1
