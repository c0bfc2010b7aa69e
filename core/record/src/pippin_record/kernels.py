"""Kernels of demonstrations: copies of what was before a step, and starts from recorded rows."""

import warp as wp


@wp.kernel
def copy_bytes(source: wp.array2d[wp.uint8], target: wp.array2d[wp.uint8]):
    """Copy rows of bytes; those of the source may have gaps between them."""
    row, byte = wp.tid()
    target[row, byte] = source[row, byte]


@wp.kernel
def write_rows(world_mask: wp.array[wp.bool], rows: wp.array2d[float], starts: wp.array[int], values: wp.array[float]):
    """Write a row of numbers into the part of a flat array that belongs to its world, in the masked worlds."""
    world, index = wp.tid()
    if world_mask[world]:
        values[starts[world] + index] = rows[world, index]
