"""Kernels of the solvers that derive from Newton's `SolverFeatherstone`."""

import newton
import warp as wp

__all__ = ["resist_at_the_end", "unshift_forces"]

_BALL = wp.constant(int(newton.JointType.BALL))
_PRISMATIC = wp.constant(int(newton.JointType.PRISMATIC))
_REVOLUTE = wp.constant(int(newton.JointType.REVOLUTE))
_D6 = wp.constant(int(newton.JointType.D6))


@wp.kernel
def resist_at_the_end(
    dt: float,
    joint_type: wp.array[int],
    joint_q_start: wp.array[int],
    joint_qd_start: wp.array[int],
    limit_lower: wp.array[float],
    limit_upper: wp.array[float],
    limit_ke: wp.array[float],
    limit_kd: wp.array[float],
    damping: wp.array[float],
    inertia: wp.array[float],
    joint_q: wp.array[float],
    total: wp.array[float],
    total_kd: wp.array[float],
):
    """Write the inertia of each axis and the damping of its limit with what makes damper and limit implicit.

    With the force of the end of a step, (I + dt d) v' = I v - dt ke (x + dt v') for the damper d and the limit ke.
    """
    joint = wp.tid()
    kind = joint_type[joint]
    is_ball, is_revolute, is_prismatic, is_d6 = kind == _BALL, kind == _REVOLUTE, kind == _PRISMATIC, kind == _D6
    is_axial = is_revolute or is_prismatic or is_d6
    for dof in range(joint_qd_start[joint], joint_qd_start[joint + 1]):
        added = float(0.0)  # noqa: UP018 (a variable of a Warp loop)
        if is_axial or is_ball:
            added += dt * damping[dof]
        if is_axial:
            q = joint_q[joint_q_start[joint] + dof - joint_qd_start[joint]]
            if q < limit_lower[dof] or q > limit_upper[dof]:
                added += dt * (limit_kd[dof] + dt * limit_ke[dof])
        total[dof] = inertia[dof] + added
        total_kd[dof] = limit_kd[dof] + dt * limit_ke[dof]


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
