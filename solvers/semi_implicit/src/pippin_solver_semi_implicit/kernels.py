"""Kernels of the solver that derives from Newton's `SolverSemiImplicit`."""

import warp as wp

__all__ = ["round_static_shapes"]


@wp.kernel(enable_backward=False)
def round_static_shapes(
    count: wp.array[int],
    shape_body: wp.array[int],
    shape0: wp.array[int],
    shape1: wp.array[int],
    normal: wp.array[wp.vec3],
    point0: wp.array[wp.vec3],
    point1: wp.array[wp.vec3],
    margin0: wp.array[float],
    margin1: wp.array[float],
):
    """Put the points of static shapes in contact onto their surfaces, and leave them no margin."""
    i = wp.tid()
    if i >= count[0]:
        return
    if shape0[i] >= 0 and shape_body[shape0[i]] < 0:
        point0[i] += margin0[i] * normal[i]
        margin0[i] = 0.0
    if shape1[i] >= 0 and shape_body[shape1[i]] < 0:
        point1[i] -= margin1[i] * normal[i]
        margin1[i] = 0.0
