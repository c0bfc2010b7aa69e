"""The kernel."""

import warp as wp


@wp.kernel
def read_heights(
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    sites: wp.array2d[int],
    heights: wp.array2d[float],
):
    """Height of each site above the origin of its world; one thread for each site."""
    world, i = wp.tid()
    site = sites[world, i]
    pose = wp.transform_multiply(body_q[shape_body[site]], shape_transform[site])
    heights[world, i] = wp.transform_get_translation(pose)[2]
