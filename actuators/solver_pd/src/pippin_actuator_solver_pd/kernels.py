"""Warp kernels of the solver's own drives."""

import warp as wp

__all__ = ["add_efforts", "write_gains"]


@wp.kernel
def add_efforts(dofs: wp.array[int], efforts: wp.array[float], joint_f: wp.array[float]):
    """joint_f[dof] += effort for each lane."""
    i = wp.tid()
    joint_f[dofs[i]] += efforts[i]


@wp.kernel
def write_gains(
    dofs: wp.array[int],
    kp: wp.array[float],
    kd: wp.array[float],
    joint_target_ke: wp.array[float],
    joint_target_kd: wp.array[float],
):
    """joint_target_ke[dof] = kp and joint_target_kd[dof] = kd for each lane."""
    i = wp.tid()
    joint_target_ke[dofs[i]] = kp[i]
    joint_target_kd[dofs[i]] = kd[i]
