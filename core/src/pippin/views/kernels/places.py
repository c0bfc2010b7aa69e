"""Places of the numbers of a view in one of Newton's arrays: the element of each row and column."""

import warp as wp

from .choice import Chosen, chosen_row
from .marks import Marks, mark_row

__all__ = ["Places", "row_of"]


@wp.struct
class Places:
    """The element of each row and column."""

    index: wp.array(dtype=int)
    """Elements, row by row, shape [count * width]; -1 is padding."""

    width: int
    """Number of columns of a row."""

    quaternion: wp.array(dtype=int)
    """Position of each element in its quaternion, -1 if it is in none, shape [count * width]; null without any."""

    low: float
    """Lowest number that is allowed."""

    high: float
    """Highest number that is allowed."""


@wp.func
def row_of(position: int, is_first: bool, places: Places, chosen: Chosen, faults: wp.array[int], marks: Marks):
    """Return the row at a position among the chosen rows, or -1, and the row of the data that it takes.

    The thread of the first column marks the row, if marks are given, and counts an index that is out of range.
    """
    row = chosen_row(position, places.index.shape[0] // places.width, chosen, is_first, faults)
    at = row
    if chosen.is_compact:
        at = position
    if row >= 0 and is_first and marks.world_of:
        mark_row(row, marks)
    return row, at
