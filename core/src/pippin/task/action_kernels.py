"""Kernels of actions."""

import warp as wp


@wp.kernel
def set_targets(
    action: wp.array2d[float],
    bounds: wp.vec2,
    scale: float,
    offsets: wp.array2d[float],
    targets: wp.array2d[float],
):
    """Target = offset + scale × clipped action."""
    world, i = wp.tid()
    targets[world, i] = offsets[world, i] + scale * wp.clamp(action[world, i], bounds[0], bounds[1])
