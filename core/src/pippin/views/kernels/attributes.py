"""The kernels of `Attributes`: elements of any type, copied as bytes."""

import warp as wp

from .choice import Chosen
from .faults import INVALID, fault
from .marks import Marks
from .places import Places, row_of
from .rules import is_unit

__all__ = ["gather_bytes", "scatter_bytes"]


@wp.kernel
def gather_bytes(source: wp.array2d[wp.uint8], index: wp.array[int], values: wp.array2d[wp.uint8]):
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


@wp.kernel
def scatter_bytes(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array2d[wp.uint8],
    numbers: wp.array[float],
    is_pose: bool,
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    target: wp.array2d[wp.uint8],
):
    """target[element] = value; `numbers` are those of the values if they are float32, and have to be allowed."""
    is_float = numbers.shape[0] > 0
    size = values.shape[1] // 4
    first = wp.tid() // column_step
    first_column = wp.tid() - first * column_step
    for position in range(first, count, row_step):
        row, at = row_of(position, first_column == 0, places, chosen, faults, marks)
        if row >= 0:
            for column in range(first_column, places.width, column_step):
                element = places.index[row * places.width + column]
                if element >= 0:
                    given = at * places.width + column
                    wrong = wp.int32(0)
                    if is_float:  # noqa: SIM102 (Warp would evaluate both conditions)
                        if not is_allowed(numbers, given * size, size, places.low, places.high, is_pose):
                            wrong = wp.int32(1)
                    if wrong == 0:
                        for byte in range(target.shape[1]):
                            target[element, byte] = values[given, byte]
                    else:
                        fault(faults, INVALID, row)
