"""Rules of values as functions of kernels; `pippin.views.rules` has the same rules for the host.

Comparisons are written so that NaN makes them false.
"""

import warp as wp
from pippin.views.rules import LARGEST, MOMENT_TOLERANCE, ROTATION_TOLERANCE, SYMMETRY_TOLERANCE, UNIT_TOLERANCE

_LARGEST = wp.constant(LARGEST)
_ROTATION = wp.constant(ROTATION_TOLERANCE)
_SPREAD = wp.constant(MOMENT_TOLERANCE)
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
def has_body(tensor: wp.mat33, trace: float):
    """Return whether no principal moment is larger than the sum of the others: ½ tr(I) 1 − I, the spreads of the mass,
    is not negative. In double precision, since the determinant of a rod is tiny.
    """
    spread = wp.mat33d(tensor) * (wp.float64(-1.0) / wp.float64(trace))
    for axis in range(3):
        spread[axis, axis] += wp.float64(0.5) + wp.float64(_SPREAD)
    minor = spread[0, 0] * spread[1, 1] - spread[0, 1] * spread[1, 0]
    return spread[0, 0] > wp.float64(0.0) and minor > wp.float64(0.0) and wp.determinant(spread) > wp.float64(0.0)


@wp.func
def is_inertia(tensor: wp.mat33):
    """Return whether a tensor is symmetric and positive definite and that of a body, or 0."""
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
        and has_body(tensor, trace)
    )
