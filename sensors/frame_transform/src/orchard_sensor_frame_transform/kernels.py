"""Poses of sites in the frames of others. Importing this module imports warp: do it inside the function that launches.

Newton's `SensorFrameTransform` computes the same transforms, in two launches and without their parts.
"""

import warp as wp

__all__ = ["measure_poses"]


@wp.func
def pose_of(
    site: int,
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
):
    """Return the pose of a site in the world."""
    body = shape_body[site]
    if body < 0:
        return shape_transform[site]
    return wp.transform_multiply(body_q[body], shape_transform[site])


@wp.kernel
def measure_poses(
    targets: wp.array[int],
    references: wp.array[int],
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    transforms: wp.array[wp.transform],
    positions: wp.array[wp.vec3],
    orientations: wp.array[wp.quat],
):
    """X = X_reference⁻¹ X_target; a reference of -1 is the world."""
    i = wp.tid()
    pose = pose_of(targets[i], body_q, shape_body, shape_transform)
    if references[i] >= 0:
        reference = pose_of(references[i], body_q, shape_body, shape_transform)
        pose = wp.transform_multiply(wp.transform_inverse(reference), pose)
    transforms[i] = pose
    positions[i] = wp.transform_get_translation(pose)
    orientations[i] = wp.transform_get_rotation(pose)
