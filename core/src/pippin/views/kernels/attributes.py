"""The kernels of `Attributes`: elements of any type, copied as bytes."""

import warp as wp

from .choice import Chosen
from .marks import Marks
from .places import Places, place_of

__all__ = ["gather_bytes", "scatter_bytes"]


@wp.kernel
def gather_bytes(source: wp.array2d[wp.uint8], index: wp.array[int], values: wp.array2d[wp.uint8]):
    """values[i] = source[index[i]]; padding stays 0."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        for byte in range(values.shape[1]):
            values[i, byte] = source[k, byte]


@wp.kernel
def scatter_bytes(
    values: wp.array2d[wp.uint8],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    target: wp.array2d[wp.uint8],
):
    """target[element] = value."""
    element, at = place_of(wp.tid(), places, chosen, faults, marks)
    if element >= 0:
        for byte in range(target.shape[1]):
            target[element, byte] = values[at, byte]
