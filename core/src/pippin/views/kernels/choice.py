"""Rows that a setter writes, as kernels take them: all, those that are listed, or those that are marked."""

import warp as wp

__all__ = ["Chosen", "chosen_row"]


@wp.struct
class Chosen:
    """The rows of one call; all if both arrays are null."""

    rows: wp.array(dtype=int)
    """Rows of the view, in any order."""

    mask: wp.array(dtype=wp.bool)
    """Whether each row is meant, shape [count]."""

    is_compact: bool
    """Whether the rows of the data follow `rows`, instead of those of the view."""


@wp.func
def chosen_row(position: int, count: int, chosen: Chosen, is_first: bool, faults: wp.array[int]):
    """Return the row at a position among the chosen ones, or -1; an index of no row is counted in faults[0], once."""
    row = position
    if chosen.rows:
        row = chosen.rows[position]
        if row < 0 or row >= count:
            # All threads of a row find this: the first one counts it.
            if is_first:
                wp.atomic_add(faults, 0, 1)
            row = -1
    if chosen.mask and not chosen.mask[position]:
        row = -1
    return row
