"""Poses of sites in frames of reference.

Newton's `SensorFrameTransform` computes the same transforms in two launches, without positions and orientations.
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
    targets: wp.array2d[int],
    references: wp.array[int],
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    transforms: wp.array2d[wp.transform],
    positions: wp.array2d[wp.vec3],
    orientations: wp.array2d[wp.quat],
):
    """X = X_reference⁻¹ X_target for all targets of a world; a reference of -1 is the world."""
    row = wp.tid()
    into_reference = wp.transform_identity()
    if references[row] >= 0:
        into_reference = wp.transform_inverse(pose_of(references[row], body_q, shape_body, shape_transform))
    for column in range(targets.shape[1]):
        pose = pose_of(targets[row, column], body_q, shape_body, shape_transform)
        if references[row] >= 0:
            pose = wp.transform_multiply(into_reference, pose)
        transforms[row, column] = pose
        positions[row, column] = wp.transform_get_translation(pose)
        orientations[row, column] = wp.transform_get_rotation(pose)
