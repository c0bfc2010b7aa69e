"""Kernels of the solvers that derive from Newton's `SolverFeatherstone`."""

import newton
import warp as wp

__all__ = ["resist_at_the_end", "round_static_shapes", "take", "unshift_forces"]

_BALL = wp.constant(int(newton.JointType.BALL))
_PRISMATIC = wp.constant(int(newton.JointType.PRISMATIC))
_REVOLUTE = wp.constant(int(newton.JointType.REVOLUTE))
_D6 = wp.constant(int(newton.JointType.D6))

_RESOLVED = wp.constant(0.25)
"""What a step adds to the inertia of a link, relative to it, up to which explicit steps are accurate and stable."""

_TINY = wp.constant(1e-20)


@wp.kernel(enable_backward=True)
def take(rows: wp.array[wp.spatial_matrix], chosen: wp.array[int], out: wp.array[wp.spatial_matrix]):
    """Copy the chosen row to each place."""
    place = wp.tid()
    out[place] = rows[chosen[place]]


@wp.func
def own_inertia(
    axis: wp.vec3, is_slide: bool, frame: wp.transform, mass: float, inertia: wp.mat33, com: wp.vec3
) -> float:
    """Return mass or moment of inertia of a link along the axis of its joint [kg, kg·m²]."""
    direction = wp.transform_vector(frame, axis)
    arm = wp.cross(direction, com - wp.transform_get_translation(frame))
    return mass if is_slide else wp.dot(direction, inertia * direction) + mass * wp.dot(arm, arm)


@wp.func
def implicit_share(added: float, own: float) -> float:
    """Return how much of a force is taken at the end of the step: none if the step resolves it, all if it does not."""
    return wp.clamp((added - _RESOLVED * own) / ((1.0 - _RESOLVED) * own + _TINY), 0.0, 1.0)


@wp.kernel
def resist_at_the_end(
    dt: float,
    joint_type: wp.array[int],
    joint_child: wp.array[int],
    joint_q_start: wp.array[int],
    joint_qd_start: wp.array[int],
    joint_dof_dim: wp.array2d[int],
    joint_frame: wp.array[wp.transform],
    joint_axis: wp.array[wp.vec3],
    body_mass: wp.array[float],
    body_inertia: wp.array[wp.mat33],
    body_com: wp.array[wp.vec3],
    limit_lower: wp.array[float],
    limit_upper: wp.array[float],
    limit_ke: wp.array[float],
    limit_kd: wp.array[float],
    damping: wp.array[float],
    armature: wp.array[float],
    joint_q: wp.array[float],
    total: wp.array[float],
    total_kd: wp.array[float],
):
    """Write the inertia of each axis and the damping of its limit with what makes damper and limit implicit.

    With the force of the end of a step, (I + dt d) v' = I v - dt ke (x + dt v') for the damper d and the limit ke.
    """
    joint = wp.tid()
    kind, child = joint_type[joint], joint_child[joint]
    is_ball, is_revolute, is_prismatic, is_d6 = kind == _BALL, kind == _REVOLUTE, kind == _PRISMATIC, kind == _D6
    is_axial = is_revolute or is_prismatic or is_d6
    first = joint_qd_start[joint]
    for dof in range(first, joint_qd_start[joint + 1]):
        added = float(0.0)  # noqa: UP018 (a variable of a Warp loop)
        is_slide = dof - first < joint_dof_dim[joint, 0]
        own = armature[dof] + own_inertia(
            joint_axis[dof], is_slide, joint_frame[joint], body_mass[child], body_inertia[child], body_com[child]
        )
        if is_axial or is_ball:
            added += dt * damping[dof] * implicit_share(dt * damping[dof], own)
        resistance = limit_kd[dof] + dt * limit_ke[dof]
        share = implicit_share(dt * resistance, own)
        if is_axial:
            q = joint_q[joint_q_start[joint] + dof - first]
            if q < limit_lower[dof] or q > limit_upper[dof]:
                added += share * dt * resistance
        total[dof] = armature[dof] + added
        total_kd[dof] = limit_kd[dof] + share * dt * limit_ke[dof]


@wp.kernel(enable_backward=False)
def unshift_forces(
    body_q_com: wp.array[wp.transform],
    solve_origin: wp.array[wp.vec3],
    joint_child: wp.array[int],
    body_f_ext: wp.array[wp.spatial_vector],
):
    """Undo what Newton's `eval_rigid_tau` does to forces on bodies: f_ext = −(F, τ + x × F)."""
    child = joint_child[wp.tid()]
    shifted = body_f_ext[child]
    force = -wp.spatial_top(shifted)
    arm = wp.transform_get_translation(body_q_com[child]) - solve_origin[child]
    body_f_ext[child] = wp.spatial_vector(force, -wp.spatial_bottom(shifted) - wp.cross(arm, force))


@wp.kernel(enable_backward=False)
def round_static_shapes(
    count: wp.array[int],
    shape_body: wp.array[int],
    shape0: wp.array[int],
    shape1: wp.array[int],
    normal: wp.array[wp.vec3],
    point0: wp.array[wp.vec3],
    point1: wp.array[wp.vec3],
    margin0: wp.array[float],
    margin1: wp.array[float],
):
    """Put the points of static shapes in contact onto their surfaces, and leave them no margin."""
    i = wp.tid()
    if i >= count[0]:
        return
    if shape0[i] >= 0 and shape_body[shape0[i]] < 0:
        point0[i] += margin0[i] * normal[i]
        margin0[i] = 0.0
    if shape1[i] >= 0 and shape_body[shape1[i]] < 0:
        point1[i] -= margin1[i] * normal[i]
        margin1[i] = 0.0
