"""The kernel of `DifferentiableFeatherstone`."""

import warp as wp

__all__ = ["unshift_forces"]


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
