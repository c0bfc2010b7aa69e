"""Marks of articulations and worlds whose rows were written."""

import warp as wp

__all__ = ["Marks", "mark_row"]


@wp.struct
class Marks:
    """Articulation and world of each row, and the masks of written articulations and worlds."""

    articulation_of: wp.array(dtype=int)
    """Articulation of each row, shape [count]; -1 for none."""

    world_of: wp.array(dtype=int)
    """World of each row, shape [count]; -1 for no world."""

    articulation_mask: wp.array(dtype=wp.bool)

    world_mask: wp.array(dtype=wp.bool)
    """One mark for each world, and a last mark for no world."""


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
