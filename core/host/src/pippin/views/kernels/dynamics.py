"""The kernels of `Dynamics`: rows of Newton's Jacobians, mass matrices and forces, and the effort against gravity."""

import warp as wp

Ints, Ints2d, Floats3d, Floats4d = wp.array[int], wp.array2d[int], wp.array3d[float], wp.array4d[float]


@wp.kernel
def gather_jacobians(
    jacobians: Floats3d, articulation_of: Ints, dof_start: Ints, body_of_link: Ints2d, dof_of: Ints2d, values: Floats4d
):
    """values[row, link, component, column] from Newton's Jacobian of the row's articulation; padding stays 0."""
    row, link = wp.tid()
    articulation = articulation_of[row]
    start = dof_start[articulation]
    if body_of_link[row, link] < 0:
        return
    for column in range(dof_of.shape[1]):
        dof = dof_of[row, column] - start
        if dof >= 0:
            for component in range(6):
                values[row, link, component, column] = jacobians[articulation, 6 * link + component, dof]


@wp.kernel
def gather_mass_matrices(matrices: Floats3d, articulation_of: Ints, dof_start: Ints, dof_of: Ints2d, values: Floats3d):
    """values[row, i, j] from Newton's mass matrix of the row's articulation; padding is 0."""
    row, line = wp.tid()
    articulation = articulation_of[row]
    start = dof_start[articulation]
    left = dof_of[row, line]
    for column in range(dof_of.shape[1]):
        right = dof_of[row, column]
        value = 0.0
        if left >= 0 and right >= 0:
            value = matrices[articulation, left - start, right - start]
        values[row, line, column] = value


@wp.kernel
def gravity_effort(
    jacobians: Floats3d,
    articulation_of: Ints,
    dof_start: Ints,
    body_of_link: Ints2d,
    parent_of_link: Ints2d,
    dof_of: Ints2d,
    link_of_dof: Ints2d,
    world_of: Ints,
    body_q: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_mass: wp.array[float],
    compensation: wp.array[float],
    gravity: wp.array[wp.vec3],
    moments: wp.array2d[wp.vec4],
    values: wp.array2d[float],
):
    """values[row, dof] = −m g · v: the power of the weight of all that a DOF carries, per velocity of the DOF.

    A DOF carries the link that its joint moves, and the links after it. They turn as one body, so that mass and first
    moment of them are enough.
    """
    row = wp.tid()
    world = world_of[row]
    if world < 0:
        world = gravity.shape[0] - 1
    g = gravity[world]
    link_count = body_of_link.shape[1]
    for link in range(link_count):
        body = body_of_link[row, link]
        moments[row, link] = wp.vec4()
        if body >= 0:
            mass = body_mass[body]
            if compensation:
                mass *= 1.0 - compensation[body]
            point = wp.transform_point(body_q[body], body_com[body])
            moments[row, link] = wp.vec4(mass * point[0], mass * point[1], mass * point[2], mass)
    for step in range(link_count):
        link = link_count - 1 - step
        parent = parent_of_link[row, link]
        if parent >= 0:
            moments[row, parent] += moments[row, link]
    articulation = articulation_of[row]
    start = dof_start[articulation]
    for column in range(dof_of.shape[1]):
        dof = dof_of[row, column]
        effort = 0.0
        if dof >= 0:
            link = link_of_dof[row, column]
            body = body_of_link[row, link]
            point = wp.transform_point(body_q[body], body_com[body])
            line = 6 * link
            local = dof - start
            velocity = wp.vec3(
                jacobians[articulation, line, local],
                jacobians[articulation, line + 1, local],
                jacobians[articulation, line + 2, local],
            )
            spin = wp.vec3(
                jacobians[articulation, line + 3, local],
                jacobians[articulation, line + 4, local],
                jacobians[articulation, line + 5, local],
            )
            carried = moments[row, link]
            mass = carried[3]
            arm = wp.vec3(carried[0], carried[1], carried[2]) - mass * point
            effort = -wp.dot(g, mass * velocity + wp.cross(spin, arm))
        values[row, column] = effort
