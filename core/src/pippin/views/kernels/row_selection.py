"""Rows that a setter writes, as an argument of kernels: all rows, listed rows or masked rows."""

import warp as wp

from .faults import OUTSIDE, fault


@wp.struct
class SelectedRows:
    """The rows of one call; all if both arrays are null."""

    rows: wp.array(dtype=int)
    """Rows of the view, in any order."""

    mask: wp.array(dtype=wp.bool)
    """Whether each row is written, shape [count]."""

    is_compact: bool
    """Whether the data has one row for each entry of `rows`, instead of one for each row of the view."""


@wp.func
def selected_row(position: int, count: int, selected: SelectedRows, is_first: bool, faults: wp.array[int]):
    """Return the row at a position among the selected rows, or -1, and the row of the data that it takes.

    An index out of range is a fault.
    """
    row = position
    if selected.rows:
        row = selected.rows[position]
        if row < 0 or row >= count:
            # All threads of a row find this fault; only the first one counts it.
            if is_first:
                fault(faults, OUTSIDE, row)
            row = -1
    if selected.mask and not selected.mask[position]:
        row = -1
    at = row
    if selected.is_compact:
        at = position
    return row, at
