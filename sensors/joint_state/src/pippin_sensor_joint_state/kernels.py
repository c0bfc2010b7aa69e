"""Joint encoders."""

import warp as wp

__all__ = ["measure_joints"]


@wp.kernel
def measure_joints(
    coordinates: wp.array[int],
    dofs: wp.array[int],
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
    joint_f: wp.array[float],
    has_effort: bool,
    positions: wp.array[float],
    velocities: wp.array[float],
    efforts: wp.array[float],
):
    """Position, velocity and effort of each lane."""
    i = wp.tid()
    positions[i] = joint_q[coordinates[i]]
    velocities[i] = joint_qd[dofs[i]]
    if has_effort:
        efforts[i] = joint_f[dofs[i]]
