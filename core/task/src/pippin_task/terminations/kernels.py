"""Kernels of terminations: one thread for each world."""

import warp as wp


@wp.kernel
def is_outside(values: wp.array2d[float], columns: wp.array[int], low: float, high: float, out: wp.array[wp.bool]):
    """Tell whether any number is not in [low, high]."""
    world = wp.tid()
    count = wp.int32(0)
    for i in range(columns.shape[0]):
        value = values[world, columns[i]]
        if not (value >= low and value <= high):
            count += 1
    out[world] = count > 0


@wp.kernel
def is_touching(forces: wp.array3d[wp.vec3], threshold: float, out: wp.array[wp.bool]):
    """Tell whether any reading of a force on any body is above a threshold."""
    world = wp.tid()
    count = wp.int32(0)
    for i in range(forces.shape[1]):
        for k in range(forces.shape[2]):
            if not (wp.length(forces[world, i, k]) <= threshold):
                count += 1
    out[world] = count > 0


@wp.kernel
def is_beyond(body_q: wp.array[wp.transform], bodies: wp.array[int], half: wp.vec2, out: wp.array[wp.bool]):
    """Tell whether a body is not within a rectangle about the origin, seen from above."""
    world = wp.tid()
    p = wp.transform_get_translation(body_q[bodies[world]])
    out[world] = not (wp.abs(p[0]) <= half[0] and wp.abs(p[1]) <= half[1])


@wp.kernel
def is_at_last(frames: wp.array[int], last: int, out: wp.array[wp.bool]):
    """Tell whether the last frame of a motion was to be reached."""
    world = wp.tid()
    out[world] = frames[world] >= last
