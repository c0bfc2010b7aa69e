"""The kernel."""

import warp as wp


@wp.kernel
def blow(
    bodies: wp.array[int],
    body_qd: wp.array[wp.spatial_vector],
    wind: wp.vec3,
    drag: float,
    body_f: wp.array[wp.spatial_vector],
):
    """Force on each body in the wind; one thread for each."""
    body = bodies[wp.tid()]
    force = drag * (wind - wp.spatial_top(body_qd[body]))
    body_f[body] += wp.spatial_vector(force, wp.vec3())
