"""The kernels of the altimeter."""

import warp as wp


@wp.kernel
def follow(
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    sites: wp.array2d[int],
    share: float,
    heights: wp.array2d[float],
):
    """Height += share × (height of the site − height)."""
    world, i = wp.tid()
    site = sites[world, i]
    pose = wp.transform_multiply(body_q[shape_body[site]], shape_transform[site])
    heights[world, i] += share * (wp.transform_get_translation(pose)[2] - heights[world, i])


@wp.kernel
def cut(
    worlds: wp.array[int],
    world_mask: wp.array[wp.bool],
    seeds: wp.array[int],
    counts: wp.array2d[int],
    limit: float,
    values: wp.array2d[float],
):
    """Values = at most `limit`."""
    row, column = wp.tid()
    if world_mask[worlds[row]]:
        values[row, column] = wp.min(values[row, column], limit)
