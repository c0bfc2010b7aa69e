"""Elements of one of Newton's arrays that the rows and columns of a view stand for."""

import warp as wp

from .dirty_flags import DirtyFlags, set_flags
from .row_selection import SelectedRows, selected_row


@wp.struct
class IndexMap:
    """The element of each row and column."""

    elements: wp.array(dtype=int)
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
def row_of(
    position: int, is_first: bool, index: IndexMap, selected: SelectedRows, faults: wp.array[int], flags: DirtyFlags
):
    """Return the row at a position among the selected rows, or -1, and the row of the data that it takes.

    The thread of the first column sets the flags of the row, if there are any, and counts an index out of range.
    """
    row, at = selected_row(position, index.elements.shape[0] // index.width, selected, is_first, faults)
    if row >= 0 and is_first and flags.world_of:
        set_flags(row, flags)
    return row, at
