"""Comparison of the model that MuJoCo compiles from a file with the one that Newton made from our import of it."""

from __future__ import annotations

from typing import Any

from .actuators import compare_actuators
from .difference import Difference, worded
from .equalities import compare_equalities
from .matching import match_models
from .options import compare_counts, compare_options
from .shapes import compare_geoms, compare_sites
from .tendons import compare_tendons
from .tree import compare_bodies, compare_joints

__all__ = ["Difference", "compare", "worded"]

_PARTS = (
    compare_bodies,
    compare_joints,
    compare_geoms,
    compare_sites,
    compare_actuators,
    compare_tendons,
    compare_equalities,
    compare_options,
    compare_counts,
)


def compare(theirs: Any, ours: Any) -> list[Difference]:
    """Return all differences between two `mujoco.MjModel`, those by design too.

    Elements correspond by name, and by their order in the tree if they have none. Two numbers are equal if they agree
    to a relative 1e-5, since Newton stores single precision and MuJoCo writes six digits.

    Args:
        theirs: The model that MuJoCo compiles from the file.
        ours: `mj_model` of Newton's `SolverMuJoCo` of the imported file, in one world.
    """
    match = match_models(theirs, ours)
    return [difference for part in _PARTS for difference in part(match)]
