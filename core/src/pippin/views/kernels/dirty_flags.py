"""Dirty flags: the articulations and worlds whose rows were written."""

import warp as wp


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
