"""Places of the numbers of a view in one of Newton's arrays: the element of each row and column."""

import warp as wp

from .choice import Chosen, chosen_row
from .marks import Marks, mark_row

__all__ = ["Places", "place_of"]


@wp.struct
class Places:
    """The element of each row and column."""

    index: wp.array(dtype=int)
    """Elements, row by row, shape [count * width]; -1 is padding."""

    width: int
    """Columns of a row."""


@wp.func
def place_of(i: int, places: Places, chosen: Chosen, faults: wp.array[int], marks: Marks):
    """Return the element that thread i writes, or -1, and the position of its value in the data.

    The first thread of a row marks it, if marks are given.
    """
    position = i // places.width
    column = i - position * places.width
    row = chosen_row(position, places.index.shape[0] // places.width, chosen, column == 0, faults)
    element = -1
    at = i  # compact data has a row for each position among the chosen ones
    if row >= 0:
        slot = row * places.width + column
        element = places.index[slot]
        if not chosen.is_compact:
            at = slot
        if column == 0 and marks.world_of:
            mark_row(row, marks)
    return element, at
