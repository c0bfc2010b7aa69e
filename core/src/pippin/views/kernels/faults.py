"""Faults that the kernels of one setter find on the device, counted by kind.

Each kind has two numbers in a setter's memory: how often it was found, and one row or index that has it.
"""

import warp as wp

OUTSIDE = wp.constant(0)
"""An index is the index of no row."""

INVALID = wp.constant(1)
"""A value is not allowed, such as NaN or a negative mass."""

HELD = wp.constant(2)
"""A joint holds the body that is to be moved."""

REFUSED = wp.constant(3)
"""The built solver cannot take over a value of this element; the example is the element of Newton's array."""

KIND_COUNT = 4


@wp.func
def fault(faults: wp.array[int], kind: int, example: int):
    """Count a fault of a kind, and keep a row or index that has it."""
    wp.atomic_add(faults, 2 * kind, 1)
    faults[2 * kind + 1] = example
