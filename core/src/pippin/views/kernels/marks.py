"""Marks of articulations and worlds whose rows were written."""

import warp as wp

__all__ = ["Marks", "mark", "mark_row"]


@wp.struct
class Marks:
    """What each row belongs to, and the masks to mark it in."""

    articulation_of: wp.array(dtype=int)
    """Articulation of each row, shape [count]; -1 for none."""

    world_of: wp.array(dtype=int)
    """World of each row, shape [count]; -1 for no world."""

    articulation_mask: wp.array(dtype=wp.bool)

    world_mask: wp.array(dtype=wp.bool)
    """One mark for each world, and a last one for no world."""


@wp.func
def mark_row(row: int, marks: Marks):
    """Mark the articulation of a row, if it has one, and its world."""
    articulation = marks.articulation_of[row]
    if articulation >= 0:
        marks.articulation_mask[articulation] = True
    world = marks.world_of[row]
    if world < 0:
        world = marks.world_mask.shape[0] - 1
    marks.world_mask[world] = True


@wp.kernel
def mark(marks: Marks):
    """Mark the articulations and the worlds of all rows."""
    mark_row(wp.tid(), marks)
