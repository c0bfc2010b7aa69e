"""Kernels of actions."""

import warp as wp


@wp.kernel
def set_targets(
    action: wp.array2d[float],
    bounds: wp.vec2,
    scales: wp.array[float],
    offsets: wp.array2d[float],
    errors: wp.array2d[float],
    targets: wp.array2d[float],
):
    """Target = offset + error + scale × clipped action."""
    world, i = wp.tid()
    clipped = wp.clamp(action[world, i], bounds[0], bounds[1])
    targets[world, i] = offsets[world, i] + errors[world, i] + scales[i] * clipped
