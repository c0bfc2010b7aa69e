"""Kernels of measured runs."""

import warp as wp


@wp.kernel
def add_work(
    efforts: wp.array[float],
    speeds: wp.array[float],
    dt: float,
    last_efforts: wp.array[float],
    last_speeds: wp.array[float],
    work: wp.array[wp.float64],
):
    """Add last effort · mean of the last and the new speed · dt to the work; then the new ones are the last ones."""
    dof = wp.tid()
    work[dof] += wp.float64(last_efforts[dof] * 0.5 * (last_speeds[dof] + speeds[dof]) * dt)
    last_efforts[dof] = efforts[dof]
    last_speeds[dof] = speeds[dof]
