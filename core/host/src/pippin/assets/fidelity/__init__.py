"""Comparison of the model that MuJoCo compiles from a file with the one that Newton made from our import of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import newton

from .couplings import compare_actuators, compare_equalities, compare_tendons
from .difference import Difference, worded
from .matching import match_models
from .options import compare_counts, compare_options, compare_time_constants
from .sketch import sketch, sketched_pairs
from .tree import compare_bodies, compare_geoms, compare_joints, compare_sites

__all__ = ["Difference", "compare", "compare_sketch", "worded"]

_TREE = (compare_bodies, compare_joints, compare_geoms, compare_sites)
_COUPLINGS = (compare_actuators, compare_tendons, compare_equalities)
_OPTIONS = (compare_options, compare_counts)

_SKETCHED: Mapping[str, tuple[str, ...]] = {
    "body": ("inverse weight",),
    "joint": (
        *("solreflimit", "solimplimit", "margin", "solreffriction", "solimpfriction"),
        *("actuatorgravcomp", "inverse weight"),
    ),
    "geom": ("condim", "priority", "solmix", "solref", "solimp", "gap", "adhesion", "surfacevel", "fluid"),
}
"""Fields of joints and geoms that a sketch leaves out: only the solvers of MuJoCo have them."""
_SKETCHED_OPTIONS = ("density", "viscosity", "wind")


def compare(theirs: Any, ours: Any, step: float = math.inf) -> list[Difference]:
    """Return all differences between two `mujoco.MjModel`, those by design too.

    Elements correspond by name, and by their order in the tree if they have none. Two numbers are equal if they agree
    to a relative 1e-5, since Newton stores single precision and MuJoCo writes six digits.

    Args:
        theirs: The model that MuJoCo compiles from the file.
        ours: `mj_model` of Newton's `SolverMuJoCo` of the imported file, in one world.
        step: Length of a substep [s]; infinite leaves out what it changes.
    """
    match = match_models(theirs, ours)
    found = [difference for part in (*_TREE, *_COUPLINGS, *_OPTIONS) for difference in part(match)]
    return [*found, *(compare_time_constants(theirs, step) if math.isfinite(step) else ())]


def compare_sketch(theirs: Any, part: newton.ModelBuilder) -> list[Difference]:
    """Return the differences between the `mujoco.MjModel` of a file and the builder that holds the imported file.

    Compared are bodies, joints, shapes and the pairs of them that can collide, sites and the medium. The form of
    meshes, actuators, tendons, equalities, parameters of contacts and options of MuJoCo's solvers are left out.
    """
    ours = sketch(part)
    match = match_models(theirs, ours, sketched_pairs(part, ours))
    found = [difference for compared in (*_TREE, *_OPTIONS) for difference in compared(match)]
    return [each for each in found if _is_sketched(each)]


def _is_sketched(difference: Difference) -> bool:
    if difference.kind == "option":
        return difference.field in _SKETCHED_OPTIONS
    return difference.field not in _SKETCHED.get(difference.kind, ())
