"""Warp kernels of the solver's own drives. Importing this module imports warp."""

import warp as wp

__all__ = ["write_gains", "write_targets"]


@wp.kernel
def write_targets(
    dofs: wp.array[int],
    coordinates: wp.array[int],
    positions: wp.array[float],
    velocities: wp.array[float],
    feedforward: wp.array[float],
    joint_target_q: wp.array[float],
    joint_target_qd: wp.array[float],
    joint_f: wp.array[float],
):
    """Write the targets of each lane at its coordinate and its DOF; joint_f[dof] += feedforward."""
    i = wp.tid()
    joint_target_q[coordinates[i]] = positions[i]
    joint_target_qd[dofs[i]] = velocities[i]
    joint_f[dofs[i]] += feedforward[i]


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
