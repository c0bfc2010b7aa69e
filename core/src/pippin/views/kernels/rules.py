"""Rules of values as functions of kernels; `pippin.views.rules` has the same rules for the host.

Comparisons are written so that NaN makes them false.
"""

import warp as wp
from pippin.views.rules import LARGEST, ROTATION_TOLERANCE, SYMMETRY_TOLERANCE, UNIT_TOLERANCE

_LARGEST = wp.constant(LARGEST)
_ROTATION = wp.constant(ROTATION_TOLERANCE)
_SKEW = wp.constant(SYMMETRY_TOLERANCE)
_UNIT = wp.constant(UNIT_TOLERANCE)


@wp.func
def is_finite(vector: wp.vec3):
    """Return whether three numbers are finite."""
    return wp.abs(vector[0]) <= _LARGEST and wp.abs(vector[1]) <= _LARGEST and wp.abs(vector[2]) <= _LARGEST


@wp.func
def is_twist(twist: wp.spatial_vector):
    """Return whether six numbers are finite."""
    return is_finite(wp.spatial_top(twist)) and is_finite(wp.spatial_bottom(twist))


@wp.func
def is_interval(lower: float, upper: float):
    """Return whether two numbers are a lowest and a highest one, infinite for no limit."""
    return lower <= upper and lower <= _LARGEST and upper >= -_LARGEST


@wp.func
def is_unit(x: float, y: float, z: float, w: float):
    """Return whether a quaternion has the length 1."""
    return wp.abs(wp.sqrt(x * x + y * y + z * z + w * w) - 1.0) <= _UNIT


@wp.func
def is_pose(pose: wp.transform):
    """Return whether a position is finite and its quaternion has the length 1."""
    return is_finite(wp.transform_get_translation(pose)) and is_unit(pose[3], pose[4], pose[5], pose[6])


@wp.func
def is_position(pose: wp.transform):
    """Return whether a pose has no rotation."""
    is_turned = not (wp.abs(pose[3]) <= _ROTATION and wp.abs(pose[4]) <= _ROTATION and wp.abs(pose[5]) <= _ROTATION)
    return is_pose(pose) and not is_turned


@wp.func
def is_inertia(tensor: wp.mat33):
    """Return whether a tensor is symmetric and positive definite, or 0."""
    trace = tensor[0, 0] + tensor[1, 1] + tensor[2, 2]
    if trace == 0.0:
        return wp.ddot(tensor, tensor) == 0.0
    scaled = tensor / trace
    skew = wp.max(
        wp.abs(scaled[0, 1] - scaled[1, 0]),
        wp.max(wp.abs(scaled[0, 2] - scaled[2, 0]), wp.abs(scaled[1, 2] - scaled[2, 1])),
    )
    minor = scaled[0, 0] * scaled[1, 1] - scaled[0, 1] * scaled[1, 0]
    return (
        trace > 0.0
        and trace <= _LARGEST
        and skew <= _SKEW
        and scaled[0, 0] > 0.0
        and minor > 0.0
        and wp.determinant(scaled) > 0.0
    )
