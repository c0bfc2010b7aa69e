"""Kernels of the conformance kit."""

import warp as wp

__all__ = ["mean_acceleration"]


@wp.kernel
def mean_acceleration(
    before: wp.array[wp.spatial_vector],
    after: wp.array[wp.spatial_vector],
    dt: float,
    body_qdd: wp.array[wp.spatial_vector],
):
    """Acceleration of each body over a substep: change of velocity / dt."""
    i = wp.tid()
    body_qdd[i] = (after[i] - before[i]) / dt
