"""Kernels of the plugin."""

import warp as wp

__all__ = ["count_contacts", "select_both"]


@wp.func
def from_body(body: int, point: wp.vec3, body_q: wp.array[wp.transform]):
    """Return a point of a body in world coordinates; points without a body are already in world coordinates."""
    if body < 0:
        return point
    return wp.transform_point(body_q[body], point)


@wp.kernel
def count_contacts(
    count: wp.array[int],
    shape0: wp.array[int],
    shape1: wp.array[int],
    point0: wp.array[wp.vec3],
    point1: wp.array[wp.vec3],
    normal: wp.array[wp.vec3],
    margin0: wp.array[float],
    margin1: wp.array[float],
    shape_body: wp.array[int],
    shape_world: wp.array[int],
    body_q: wp.array[wp.transform],
    leaves_out_gaps: bool,
    in_world: wp.array[int],
):
    """in_world[w] += 1 for each contact of world w; with `leaves_out_gaps`, only if the surfaces touch.

    Newton's buffer is for all worlds together; Kamino's has one part per world.
    """
    i = wp.tid()
    if i >= wp.min(count[0], shape0.shape[0]):
        return
    a, b = shape0[i], shape1[i]
    p0 = from_body(shape_body[a], point0[i], body_q)
    p1 = from_body(shape_body[b], point1[i], body_q)
    distance = wp.dot(normal[i], p1 - p0) - (margin0[i] + margin1[i])
    world = wp.max(shape_world[a], shape_world[b])  # a shape outside every world has -1
    if world >= 0 and not (leaves_out_gaps and distance > 0.0):
        wp.atomic_add(in_world, world, 1)


@wp.kernel
def select_both(one: wp.array[wp.bool], other: wp.array[wp.bool], both: wp.array[wp.bool]):
    """Select what two masks select."""
    index = wp.tid()
    both[index] = one[index] and other[index]
