"""The kernel: one thread for each world."""

import warp as wp


@wp.kernel
def is_low(body_q: wp.array[wp.transform], bodies: wp.array[int], height: float, out: wp.array[bool]):
    """Whether the origin of a body is below a height."""
    world = wp.tid()
    out[world] = wp.transform_get_translation(body_q[bodies[world]])[2] < height
