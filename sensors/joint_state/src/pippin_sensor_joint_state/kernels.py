"""Joint encoders."""

import warp as wp

__all__ = ["measure_effort", "measure_motion"]


@wp.kernel
def measure_motion(
    coordinates: wp.array[int],
    dofs: wp.array[int],
    joint_q: wp.array[float],
    joint_qd: wp.array[float],
    positions: wp.array[float],
    velocities: wp.array[float],
):
    """Position and velocity of each lane."""
    i = wp.tid()
    positions[i] = joint_q[coordinates[i]]
    velocities[i] = joint_qd[dofs[i]]


@wp.kernel
def measure_effort(dofs: wp.array[int], joint_f: wp.array[float], efforts: wp.array[float]):
    """Effort of each lane."""
    i = wp.tid()
    efforts[i] = joint_f[dofs[i]]
