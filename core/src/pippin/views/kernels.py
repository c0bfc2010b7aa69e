"""The kernels of the views. Importing this module imports warp: do it inside the function that launches.

Setting kernels share how rows are chosen: `rows` lists them, `mask` marks them, and where both are None all are meant.
An index of no row is counted in `faults[0]` and nothing is written for it. Chosen rows mark their articulation and
their world where those masks are given.
"""

import warp as wp

__all__ = [
    "add_wrenches",
    "gather_balls",
    "gather_coriolis",
    "gather_flags",
    "gather_gravity_forces",
    "gather_jacobians",
    "gather_mass_matrices",
    "gather_matrices",
    "gather_numbers",
    "gather_poses",
    "gather_twists",
    "gather_vectors",
    "mark",
    "scatter",
    "scatter_balls",
    "scatter_coms",
    "scatter_flags",
    "scatter_inertias",
    "scatter_masses",
    "scatter_poses",
    "scatter_twists",
]


@wp.func
def chosen_row(
    position: int, count: int, rows: wp.array[int], mask: wp.array[wp.bool], is_first: bool, faults: wp.array[int]
):
    """Return the row that a position among the chosen ones stands for, or -1."""
    row = position
    if rows:
        row = rows[position]
        if row < 0 or row >= count:
            if is_first:
                wp.atomic_add(faults, 0, 1)
            row = -1
    if mask and not mask[position]:
        row = -1
    return row


@wp.func
def mark_row(
    row: int,
    articulation_of: wp.array[int],
    world_of: wp.array[int],
    articulation_mask: wp.array[wp.bool],
    world_mask: wp.array[wp.bool],
):
    """Mark the articulation of a row, if it has one, and its world."""
    articulation = articulation_of[row]
    if articulation >= 0:
        articulation_mask[articulation] = True
    world = world_of[row]
    if world < 0:
        world = world_mask.shape[0] - 1
    world_mask[world] = True


@wp.kernel
def mark(
    articulation_of: wp.array[int],
    world_of: wp.array[int],
    articulation_mask: wp.array[wp.bool],
    world_mask: wp.array[wp.bool],
):
    """Mark the articulations and the worlds of all rows."""
    mark_row(wp.tid(), articulation_of, world_of, articulation_mask, world_mask)


# Not one generic kernel: replayed from a graph of the CPU, one type's kernel would run for all types recorded with it.


@wp.kernel
def gather_numbers(source: wp.array[float], index: wp.array[int], values: wp.array[float]):
    """values[i] = source[index[i]]; what is padded, index -1, stays as it is."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def gather_vectors(source: wp.array[wp.vec3], index: wp.array[int], values: wp.array[wp.vec3]):
    """values[i] = source[index[i]]; what is padded, index -1, stays as it is."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def gather_matrices(source: wp.array[wp.mat33], index: wp.array[int], values: wp.array[wp.mat33]):
    """values[i] = source[index[i]]; what is padded, index -1, stays as it is."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def gather_poses(source: wp.array[wp.transform], index: wp.array[int], values: wp.array[wp.transform]):
    """values[i] = source[index[i]]; what is padded, index -1, stays as it is."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def gather_twists(source: wp.array[wp.spatial_vector], index: wp.array[int], values: wp.array[wp.spatial_vector]):
    """values[i] = source[index[i]]; what is padded, index -1, stays as it is."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def scatter(
    values: wp.array[float],
    width: int,
    index: wp.array[int],
    rows: wp.array[int],
    mask: wp.array[wp.bool],
    is_compact: bool,
    faults: wp.array[int],
    articulation_of: wp.array[int],
    world_of: wp.array[int],
    articulation_mask: wp.array[wp.bool],
    world_mask: wp.array[wp.bool],
    target: wp.array[float],
):
    """target[index[row, column]] = values[row, column] in the chosen rows."""
    i = wp.tid()
    position = i // width
    column = i - position * width
    row = chosen_row(position, index.shape[0] // width, rows, mask, column == 0, faults)
    if row < 0:
        return
    k = index[row * width + column]
    if k >= 0:
        if is_compact:
            target[k] = values[i]
        else:
            target[k] = values[row * width + column]
    if column == 0 and articulation_mask:
        mark_row(row, articulation_of, world_of, articulation_mask, world_mask)


@wp.kernel
def gather_balls(joint_q: wp.array[float], coord_of: wp.array[int], slot_of: wp.array[int], values: wp.array[float]):
    """values[slot .. slot + 2] = rotation vector of the ball joint whose quaternion begins at coord_of[i]."""
    i = wp.tid()
    q = coord_of[i]
    if q < 0:
        return
    turn = wp.quat(joint_q[q], joint_q[q + 1], joint_q[q + 2], joint_q[q + 3])
    if turn[3] < 0.0:
        turn = -turn
    sine = wp.length(wp.vec3(turn[0], turn[1], turn[2]))
    factor = 2.0  # the limit of angle / sin(angle / 2) for small angles
    if sine > 1.0e-6:
        factor = 2.0 * wp.atan2(sine, turn[3]) / sine
    for k in range(3):
        values[slot_of[i] + k] = factor * turn[k]


@wp.kernel
def scatter_balls(
    values: wp.array[float],
    width: int,
    coord_of: wp.array[int],
    slot_of: wp.array[int],
    ball_count: int,
    rows: wp.array[int],
    mask: wp.array[wp.bool],
    is_compact: bool,
    faults: wp.array[int],
    joint_q: wp.array[float],
):
    """Write the quaternions of the ball joints of the chosen rows, from rotation vectors."""
    i = wp.tid()
    position = i // ball_count
    # `scatter` runs beside it, and counts the faults.
    row = chosen_row(position, coord_of.shape[0] // ball_count, rows, mask, False, faults)
    if row < 0:
        return
    ball = row * ball_count + i - position * ball_count
    q = coord_of[ball]
    if q < 0:
        return
    slot = slot_of[ball]
    if is_compact:
        slot += (position - row) * width
    vector = wp.vec3(values[slot], values[slot + 1], values[slot + 2])
    angle = wp.length(vector)
    factor = 0.5
    if angle > 1.0e-6:
        factor = wp.sin(0.5 * angle) / angle
    for k in range(3):
        joint_q[q + k] = factor * vector[k]
    joint_q[q + 3] = wp.cos(0.5 * angle)


@wp.kernel
def gather_flags(source: wp.array[float], index: wp.array[int], values: wp.array[wp.uint8]):
    """values[i] = 1 where source[index[i]] is not zero."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = wp.where(source[k] != 0.0, wp.uint8(1), wp.uint8(0))


@wp.kernel
def scatter_flags(
    values: wp.array[wp.uint8],
    width: int,
    index: wp.array[int],
    rows: wp.array[int],
    mask: wp.array[wp.bool],
    is_compact: bool,
    faults: wp.array[int],
    target: wp.array[float],
):
    """target[index[row, column]] = 1 where values are not zero, else 0, in the chosen rows."""
    i = wp.tid()
    position = i // width
    column = i - position * width
    row = chosen_row(position, index.shape[0] // width, rows, mask, column == 0, faults)
    if row < 0:
        return
    k = index[row * width + column]
    if k >= 0:
        value = values[i]
        if not is_compact:
            value = values[row * width + column]
        target[k] = wp.where(value != wp.uint8(0), 1.0, 0.0)


@wp.kernel
def scatter_masses(
    values: wp.array[float],
    width: int,
    index: wp.array[int],
    rows: wp.array[int],
    mask: wp.array[wp.bool],
    is_compact: bool,
    faults: wp.array[int],
    mass: wp.array[float],
    inverse: wp.array[float],
):
    """Write masses and their inverses in the chosen rows; a mass of 0 has the inverse 0: nothing moves the body."""
    i = wp.tid()
    position = i // width
    column = i - position * width
    row = chosen_row(position, index.shape[0] // width, rows, mask, column == 0, faults)
    if row < 0:
        return
    k = index[row * width + column]
    if k >= 0:
        value = values[i]
        if not is_compact:
            value = values[row * width + column]
        mass[k] = value
        inverse[k] = wp.where(value > 0.0, 1.0 / value, 0.0)


@wp.kernel
def scatter_inertias(
    values: wp.array[wp.mat33],
    width: int,
    index: wp.array[int],
    rows: wp.array[int],
    mask: wp.array[wp.bool],
    is_compact: bool,
    faults: wp.array[int],
    inertia: wp.array[wp.mat33],
    inverse: wp.array[wp.mat33],
):
    """Write inertias and their inverses in the chosen rows; a singular inertia has the inverse 0."""
    i = wp.tid()
    position = i // width
    column = i - position * width
    row = chosen_row(position, index.shape[0] // width, rows, mask, column == 0, faults)
    if row < 0:
        return
    k = index[row * width + column]
    if k >= 0:
        value = values[i]
        if not is_compact:
            value = values[row * width + column]
        inertia[k] = value
        inverted = wp.mat33(0.0)
        if wp.determinant(value) != 0.0:
            inverted = wp.inverse(value)
        inverse[k] = inverted


@wp.kernel
def scatter_coms(
    values: wp.array[wp.transform],
    width: int,
    index: wp.array[int],
    rows: wp.array[int],
    mask: wp.array[wp.bool],
    is_compact: bool,
    faults: wp.array[int],
    articulation_of: wp.array[int],
    world_of: wp.array[int],
    articulation_mask: wp.array[wp.bool],
    world_mask: wp.array[wp.bool],
    target: wp.array[wp.vec3],
):
    """Write centres of mass in the chosen rows, and count in faults[1] those that come with a rotation."""
    i = wp.tid()
    position = i // width
    column = i - position * width
    row = chosen_row(position, index.shape[0] // width, rows, mask, column == 0, faults)
    if row < 0:
        return
    k = index[row * width + column]
    if k >= 0:
        pose = values[i]
        if not is_compact:
            pose = values[row * width + column]
        turn = wp.transform_get_rotation(pose)
        if wp.length(wp.vec3(turn[0], turn[1], turn[2])) > 1.0e-6:
            wp.atomic_add(faults, 1, 1)
        target[k] = wp.transform_get_translation(pose)
    if column == 0:
        mark_row(row, articulation_of, world_of, articulation_mask, world_mask)


@wp.func
def is_identity(frame: wp.transform):
    """Tell whether a frame is that of its parent."""
    size = wp.float32(0.0)
    for k in range(6):
        size += wp.abs(frame[k])
    return size == 0.0


@wp.kernel
def scatter_poses(
    values: wp.array[wp.transform],
    rows: wp.array[int],
    mask: wp.array[wp.bool],
    is_compact: bool,
    faults: wp.array[int],
    articulation_of: wp.array[int],
    world_of: wp.array[int],
    articulation_mask: wp.array[wp.bool],
    world_mask: wp.array[wp.bool],
    body_of: wp.array[int],
    joint_of: wp.array[int],
    coord_of: wp.array[int],
    child_frame: wp.array[wp.transform],
    parent_frame: wp.array[wp.transform],
    joint_q: wp.array[float],
    body_q: wp.array[wp.transform],
):
    """Put the bodies of the chosen rows at poses in the world.

    A free joint, one with coordinates in coord_of, takes the pose that puts its body there; where there is another
    joint, its frame in the world moves along; and a body without a joint is put there itself.
    """
    position = wp.tid()
    row = chosen_row(position, body_of.shape[0], rows, mask, True, faults)
    if row < 0:
        return
    pose = values[position]
    if not is_compact:
        pose = values[row]
    joint = joint_of[row]
    start = coord_of[row]
    if start >= 0:
        # Most free joints have frames that change nothing, and products of transforms are what takes time here.
        moved = pose
        if not is_identity(parent_frame[joint]):
            moved = wp.transform_inverse(parent_frame[joint]) * moved
        if not is_identity(child_frame[joint]):
            moved = moved * child_frame[joint]
        for k in range(7):
            joint_q[start + k] = moved[k]
    elif joint >= 0:
        parent_frame[joint] = pose * wp.transform_inverse(body_q[body_of[row]]) * parent_frame[joint]
    else:
        body_q[body_of[row]] = pose
    mark_row(row, articulation_of, world_of, articulation_mask, world_mask)


@wp.kernel
def scatter_twists(
    values: wp.array[wp.spatial_vector],
    rows: wp.array[int],
    mask: wp.array[wp.bool],
    is_compact: bool,
    faults: wp.array[int],
    articulation_of: wp.array[int],
    world_of: wp.array[int],
    articulation_mask: wp.array[wp.bool],
    world_mask: wp.array[wp.bool],
    body_of: wp.array[int],
    joint_of: wp.array[int],
    dof_of: wp.array[int],
    parent_frame: wp.array[wp.transform],
    joint_qd: wp.array[float],
    body_qd: wp.array[wp.spatial_vector],
):
    """Give the free bodies of the chosen rows velocities in the world; a free joint's are in its parent's frame."""
    position = wp.tid()
    row = chosen_row(position, body_of.shape[0], rows, mask, True, faults)
    if row < 0:
        return
    twist = values[position]
    if not is_compact:
        twist = values[row]
    start = dof_of[row]
    if start >= 0:
        turn = wp.quat_inverse(wp.transform_get_rotation(parent_frame[joint_of[row]]))
        linear = wp.quat_rotate(turn, wp.spatial_top(twist))
        angular = wp.quat_rotate(turn, wp.spatial_bottom(twist))
        for k in range(3):
            joint_qd[start + k] = linear[k]
            joint_qd[start + 3 + k] = angular[k]
    else:
        body_qd[body_of[row]] = twist
    mark_row(row, articulation_of, world_of, articulation_mask, world_mask)


@wp.kernel
def add_wrenches(
    forces: wp.array[wp.vec3],
    torques: wp.array[wp.vec3],
    positions: wp.array[wp.vec3],
    is_in_body_frame: bool,
    width: int,
    index: wp.array[int],
    rows: wp.array[int],
    mask: wp.array[wp.bool],
    is_compact: bool,
    faults: wp.array[int],
    body_q: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_f: wp.array[wp.spatial_vector],
):
    """body_f += (force, torque + (position − centre of mass) × force), in the world, in the chosen rows."""
    i = wp.tid()
    place = i // width
    column = i - place * width
    row = chosen_row(place, index.shape[0] // width, rows, mask, column == 0, faults)
    if row < 0:
        return
    body = index[row * width + column]
    if body < 0:
        return
    at = row * width + column
    if is_compact:
        at = i
    pose = body_q[body]
    force = wp.vec3()
    torque = wp.vec3()
    if forces:
        force = forces[at]
    if torques:
        torque = torques[at]
    if is_in_body_frame:
        force = wp.transform_vector(pose, force)
        torque = wp.transform_vector(pose, torque)
    if positions:
        point = positions[at]
        if is_in_body_frame:
            point = wp.transform_point(pose, point)
        torque += wp.cross(point - wp.transform_point(pose, body_com[body]), force)
    # Two rows, or two calls on other streams, may push the same body.
    wp.atomic_add(body_f, body, wp.spatial_vector(force, torque))


@wp.kernel
def gather_jacobians(
    jacobians: wp.array3d[float],
    articulation_of: wp.array[int],
    dof_start: wp.array[int],
    joint_start: wp.array[int],
    joint_of_link: wp.array2d[int],
    dof_of: wp.array2d[int],
    values: wp.array4d[float],
):
    """values[row, link, component, column] from Newton's Jacobian of the row's articulation; 0 where it is padded."""
    row, link, component, column = wp.tid()
    joint = joint_of_link[row, link]
    dof = dof_of[row, column]
    value = 0.0
    if joint >= 0 and dof >= 0:
        articulation = articulation_of[row]
        line = 6 * (joint - joint_start[articulation]) + component
        value = jacobians[articulation, line, dof - dof_start[articulation]]
    values[row, link, component, column] = value


@wp.kernel
def gather_mass_matrices(
    matrices: wp.array3d[float],
    articulation_of: wp.array[int],
    dof_start: wp.array[int],
    dof_of: wp.array2d[int],
    values: wp.array3d[float],
):
    """values[row, i, j] from Newton's mass matrix of the row's articulation; 0 where it is padded."""
    row, line, column = wp.tid()
    left = dof_of[row, line]
    right = dof_of[row, column]
    value = 0.0
    if left >= 0 and right >= 0:
        articulation = articulation_of[row]
        start = dof_start[articulation]
        value = matrices[articulation, left - start, right - start]
    values[row, line, column] = value


@wp.kernel
def gather_gravity_forces(
    jacobians: wp.array4d[float],
    body_of_link: wp.array2d[int],
    world_of: wp.array[int],
    body_mass: wp.array[float],
    gravity: wp.array[wp.vec3],
    values: wp.array2d[float],
):
    """values[row, dof] = −Σ over links of J_linear(link, dof) · m g: what holds the row still."""
    row, column = wp.tid()
    world = world_of[row]
    if world < 0:
        world = gravity.shape[0] - 1
    g = gravity[world]
    total = wp.float32(0.0)  # a variable: a literal would be a constant of the loop
    for link in range(body_of_link.shape[1]):
        body = body_of_link[row, link]
        if body >= 0:
            for k in range(3):
                total -= jacobians[row, link, k, column] * body_mass[body] * g[k]
    values[row, column] = total


@wp.kernel
def gather_coriolis(source: wp.array[float], dof_of: wp.array2d[int], values: wp.array2d[float]):
    """values[row, dof] = source[dof]; 0 where it is padded."""
    row, column = wp.tid()
    dof = dof_of[row, column]
    value = 0.0
    if dof >= 0:
        value = source[dof]
    values[row, column] = value
