"""Poses of cameras."""

import warp as wp

__all__ = ["place_cameras"]


@wp.kernel
def place_cameras(
    sites: wp.array[int],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    body_q: wp.array[wp.transform],
    poses: wp.array[wp.transform],
):
    """Pose of each site in its world: the pose of its body times its own; body -1 is the world."""
    i = wp.tid()
    pose = shape_transform[sites[i]]
    body = shape_body[sites[i]]
    if body >= 0:
        pose = body_q[body] * pose
    poses[i] = pose
