"""The kernels of `Dynamics`: they put Newton's Jacobians, mass matrices and forces into the rows of a view."""

import warp as wp

__all__ = ["gather_coriolis", "gather_gravity_forces", "gather_jacobians", "gather_mass_matrices"]


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
    """values[row, link, component, column] from Newton's Jacobian of the row's articulation; padding is 0."""
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
    """values[row, i, j] from Newton's mass matrix of the row's articulation; padding is 0."""
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
    """values[row, dof] = source[dof]; padding is 0."""
    row, column = wp.tid()
    dof = dof_of[row, column]
    value = 0.0
    if dof >= 0:
        value = source[dof]
    values[row, column] = value
