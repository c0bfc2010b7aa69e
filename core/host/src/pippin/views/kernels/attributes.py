"""The kernels of `Attributes`: elements of any type, copied as bytes."""

import warp as wp

from .gather_scatter import scatter
from .rows import IndexMap
from .rules import is_unit

Bytes = wp.array2d[wp.uint8]


@wp.kernel
def gather_bytes(source: Bytes, index: wp.array[int], values: Bytes):
    """values[i] = source[index[i]]; padding stays 0."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        for byte in range(values.shape[1]):
            values[i, byte] = source[k, byte]


@wp.func
def is_allowed(numbers: wp.array[float], first: int, count: int, low: float, high: float, is_pose: bool):
    """Return whether the numbers of a value are within bounds, as NaN is not, and the last four of a pose are unit."""
    found = wp.int32(0)
    for k in range(count):
        number = numbers[first + k]
        if number >= low and number <= high:
            found += 1
    is_good = found == count
    if is_pose and is_good:
        at = first + count - 4
        is_good = is_unit(numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3])
    return is_good


@scatter
@wp.func
def scatter_bytes(values: Bytes, at: int, index: IndexMap, place: int, target: Bytes, numbers: wp.array[float]):
    """Copy the bytes of a value; the numbers of all values, null if they are not float32, have to be allowed.

    A quaternion in the index map tells that the last four numbers of each value are one.
    """
    element = index.elements[place]
    is_good = True
    if numbers:
        size = target.shape[1] // 4
        is_pose = False
        if index.quaternion:
            is_pose = True
        is_good = is_allowed(numbers, at * size, size, index.low, index.high, is_pose)
    if is_good:
        for byte in range(target.shape[1]):
            target[element, byte] = values[at, byte]
    return is_good
