"""Parts that the kernels of setters share: faults, dirty flags, the selected rows and the elements of Newton's arrays.

The faults of a setter are counted by kind, with two numbers in the setter's memory: how often a kind was found, and one
row or index that has it.
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


@wp.struct
class DirtyFlags:
    """Articulation and world of each row, and the flags of written articulations and worlds."""

    articulation_of: wp.array(dtype=int)
    """Articulation of each row, shape [count]; -1 for none."""

    world_of: wp.array(dtype=int)
    """World of each row, shape [count]; -1 for no world."""

    articulations: wp.array(dtype=wp.bool)

    worlds: wp.array(dtype=wp.bool)
    """One flag for each world, and a last flag for no world."""


@wp.func
def set_flags(row: int, flags: DirtyFlags):
    """Set the flags of a row's articulation, if it has one, and of its world."""
    articulation = flags.articulation_of[row]
    if articulation >= 0:
        flags.articulations[articulation] = True
    world = flags.world_of[row]
    if world < 0:
        world = flags.worlds.shape[0] - 1
    flags.worlds[world] = True


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
