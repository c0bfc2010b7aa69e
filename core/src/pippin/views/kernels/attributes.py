"""The kernels of `Attributes`: elements of any type, copied as bytes."""

import warp as wp

from .choice import Chosen
from .faults import INVALID, fault
from .marks import Marks
from .places import Places, row_of

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
def is_nan_at(values: wp.array2d[wp.uint8], at: int, byte: int):
    """Return whether the four bytes from a place on are a float32 that is no number: every bit of its exponent is 1."""
    high, low = int(values[at, byte + 3]), int(values[at, byte + 2])
    fraction = (low & 127) | int(values[at, byte + 1]) | int(values[at, byte])
    return (high & 127) == 127 and (low & 128) == 128 and fraction != 0


@wp.func
def has_nan(values: wp.array2d[wp.uint8], at: int):
    """Return whether any float32 of a value is no number."""
    found = wp.int32(0)
    for byte in range(0, values.shape[1], 4):
        if is_nan_at(values, at, byte):
            found += 1
    return found > 0


@wp.kernel
def scatter_bytes(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array2d[wp.uint8],
    is_float: bool,
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    target: wp.array2d[wp.uint8],
):
    """target[element] = value; a value with a number of float32 that is NaN is a fault."""
    first = wp.tid() // column_step
    first_column = wp.tid() - first * column_step
    for position in range(first, count, row_step):
        row, at = row_of(position, first_column == 0, places, chosen, faults, marks)
        if row >= 0:
            for column in range(first_column, places.width, column_step):
                element = places.index[row * places.width + column]
                if element >= 0:
                    given = at * places.width + column
                    if not is_float or not has_nan(values, given):
                        for byte in range(target.shape[1]):
                            target[element, byte] = values[given, byte]
                    else:
                        fault(faults, INVALID, row)
