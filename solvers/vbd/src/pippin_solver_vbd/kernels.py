"""Kernels of the solver that derives from Newton's `SolverVBD`."""

import newton
import warp as wp

__all__ = ["turn_hinges"]

_REVOLUTE = wp.constant(int(newton.JointType.REVOLUTE))
_D6 = wp.constant(int(newton.JointType.D6))

_ALIKE = wp.constant(0.9999)
"""Cosine of two directions that differ by rounding alone, or by less than joints are built with."""


@wp.func
def across(axis: wp.vec3, wanted: wp.vec3) -> wp.vec3:
    """Return a direction across an axis: the part of the wanted one, or any, if that is along the axis."""
    found = wanted - wp.dot(wanted, axis) * axis
    if wp.length(found) < 0.5:
        side = wp.vec3(1.0, 0.0, 0.0)
        if wp.abs(axis[0]) > 0.7:
            side = wp.vec3(0.0, 1.0, 0.0)
        found = wp.cross(axis, side)
    return wp.normalize(found)


@wp.func
def unrounded(axis: wp.vec3) -> wp.vec3:
    """Return the coordinate axis that is next to an axis, without rounding, if it is one; else the axis."""
    largest = wp.argmax(wp.abs(axis))
    if wp.abs(axis[largest]) < _ALIKE:
        return axis
    found = wp.vec3()
    found[largest] = wp.sign(axis[largest])
    return found


@wp.kernel(enable_backward=False)
def turn_hinges(
    joint_type: wp.array[int],
    joint_qd_start: wp.array[int],
    joint_dof_dim: wp.array2d[int],
    parent_frame: wp.array[wp.transform],
    child_frame: wp.array[wp.transform],
    axis: wp.array[wp.vec3],
    turned_parent_frame: wp.array[wp.transform],
    turned_child_frame: wp.array[wp.transform],
    turned_axis: wp.array[wp.vec3],
):
    """Write frames and axes of all joints, with both frames turned where a joint has hinges: their axes are coordinate
    axes, which have no rounding. The joint is the same one.
    """
    joint = wp.tid()
    first, end = joint_qd_start[joint], joint_qd_start[joint + 1]
    linear, angular = joint_dof_dim[joint, 0], joint_dof_dim[joint, 1]
    turn = wp.quat_identity()
    if angular > 0 and (joint_type[joint] == _REVOLUTE or joint_type[joint] == _D6):
        x = wp.normalize(axis[first + linear])
        y = across(x, axis[wp.min(first + linear + 1, end - 1)])
        turn = wp.quat_from_matrix(wp.matrix_from_cols(x, y, wp.cross(x, y)))
    for dof in range(first, end):
        turned_axis[dof] = axis[dof]
        if joint_type[joint] == _REVOLUTE or joint_type[joint] == _D6:
            turned_axis[dof] = wp.quat_rotate_inv(turn, axis[dof])
            if dof >= first + linear:
                turned_axis[dof] = unrounded(turned_axis[dof])
    turned_parent_frame[joint] = parent_frame[joint] * wp.transform(wp.vec3(), turn)
    turned_child_frame[joint] = child_frame[joint] * wp.transform(wp.vec3(), turn)
