"""The kernel: one thread for each world and joint."""

import warp as wp


@wp.kernel
def set_efforts(action: wp.array2d[float], dofs: wp.array2d[int], scale: float, joint_f: wp.array[float]):
    """Effort = scale × number, from -1 to 1."""
    world, joint = wp.tid()
    joint_f[dofs[world, joint]] = scale * wp.clamp(action[world, joint], -1.0, 1.0)
