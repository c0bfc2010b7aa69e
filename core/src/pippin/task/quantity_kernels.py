"""Kernels of quantities."""

import warp as wp


@wp.kernel
def gather(
    values: wp.array[float],
    indices: wp.array2d[int],
    offsets: wp.array2d[float],
    scales: wp.array2d[float],
    out: wp.array2d[float],
):
    """Out = (values[index] − offset) × scale."""
    world, i = wp.tid()
    out[world, i] = (values[indices[world, i]] - offsets[world, i]) * scales[world, i]


@wp.kernel
def read_height(body_q: wp.array[wp.transform], bodies: wp.array[int], out: wp.array2d[float]):
    """Write z of one body in each world."""
    world = wp.tid()
    out[world, 0] = wp.transform_get_translation(body_q[bodies[world]])[2]
