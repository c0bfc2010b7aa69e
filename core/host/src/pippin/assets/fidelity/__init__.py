"""Comparison of the model that MuJoCo compiles from a file with the one that Newton made from our import of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import mujoco
import newton
import numpy as np

from .couplings import compare_actuators, compare_equalities, compare_listed_pairs, compare_tendons
from .difference import BY_DESIGN, Difference, compare_values, compare_words, worded
from .matching import Match, match_models
from .mujoco_only import OWN, compare_mujoco_only
from .sketch import sketch, sketched_pairs
from .tree import compare_bodies, compare_geoms, compare_joints, compare_sites

__all__ = ["Difference", "compare", "compare_sketch", "worded"]

_NUMBERS = (
    *("timestep", "impratio", "iterations", "ls_iterations", "tolerance", "ls_tolerance", "noslip_iterations"),
    *("ccd_iterations", "ccd_tolerance", "wind", "density", "viscosity"),
)
_ENUMS = {"integrator": mujoco.mjtIntegrator, "cone": mujoco.mjtCone, "solver": mujoco.mjtSolver}

_COUNTS = {
    "keyframes": ("nkey", False, BY_DESIGN["keyframes"]),
    "sensors": ("nsensor", False, BY_DESIGN["sensors"]),
    "cameras": ("ncam", False, BY_DESIGN["cameras"]),
    "flexes": ("nflex", True, None),
    "plugins": ("nplugin", True, None),
}


def compare_options(match: Match) -> Iterator[Difference]:
    """Yield the differences of options and flags. Gravity that a flag switches off is zero."""
    theirs, ours = match.theirs.opt, match.ours.opt
    yield from compare_values("option", "gravity", _gravity(theirs), _gravity(ours), 1e-6)
    for name, enum in _ENUMS.items():
        kinds = [enum(int(getattr(option, name))).name.split("_")[1].lower() for option in (theirs, ours)]
        reason = BY_DESIGN.get(f"{name} {kinds[0]}") or BY_DESIGN.get(f"{name} {kinds[0]} to {kinds[1]}")
        yield from compare_words("option", name, kinds[0], kinds[1], False, reason)
    for name in _used(match):
        values = getattr(theirs, name), getattr(ours, name)
        yield from compare_values("option", name, *values, 1e-12, False, BY_DESIGN.get(name))
    yield from _compare_flags(theirs, ours)


def compare_counts(match: Match) -> Iterator[Difference]:
    """Yield the numbers of elements that differ, for elements that are not compared one by one."""
    for name, (field, is_structural, reason) in _COUNTS.items():
        counts = float(getattr(match.theirs, field)), float(getattr(match.ours, field))
        yield from compare_words("model", name, *counts, is_structural, reason)


def compare_time_constants(theirs: Any, step: float) -> Iterator[Difference]:
    """Yield the smallest time constant of contacts, limits and equalities [s] if the step changes it.

    MuJoCo raises time constants to two steps, so that constraints are stiffer with short steps.
    """
    collides = (theirs.geom_contype | theirs.geom_conaffinity) > 0
    used = theirs.geom_solref[collides], theirs.jnt_solref[theirs.jnt_limited > 0], theirs.eq_solref
    constants = np.concatenate([each[:, 0] for each in used])
    least = constants[constants > 0.0].min(initial=np.inf)
    is_safe = not theirs.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)
    if is_safe and np.isfinite(least):
        raised = max(least, 2.0 * theirs.opt.timestep), max(least, 2.0 * step)
        yield from compare_values("option", "time constant of the stiffest constraints, two steps at least", *raised)


def _gravity(option: Any) -> np.ndarray:
    is_off = option.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return np.zeros(3) if is_off else np.array(option.gravity)


def _used(match: Match) -> list[str]:
    names: list[str] = list(_NUMBERS)
    if match.theirs.opt.noslip_iterations:
        names.append("noslip_tolerance")
    if (match.theirs.geom_type == int(mujoco.mjtGeom.mjGEOM_SDF)).any():
        names += ("sdf_iterations", "sdf_initpoints")
    if match.theirs.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE):
        names += ("o_margin", "o_solref", "o_solimp", "o_friction")
    return names


def _compare_flags(theirs: Any, ours: Any) -> Iterator[Difference]:
    for enum, field, on in ((mujoco.mjtDisableBit, "disableflags", False), (mujoco.mjtEnableBit, "enableflags", True)):
        for label, bit in enum.__members__.items():
            name = label.rpartition("_")[2].lower()  # mjDSBL_CONTACT; the count of flags is among them
            if "_" in label and name != "gravity":
                states = [bool(getattr(option, field) & int(bit)) == on for option in (theirs, ours)]
                yield from compare_words(
                    "option", f"flag {name}", states[0], states[1], False, BY_DESIGN.get(f"flag {name}")
                )


_TREE = (compare_bodies, compare_joints, compare_geoms, compare_sites)
_COUPLINGS = (compare_actuators, compare_tendons, compare_equalities, compare_listed_pairs)
_OPTIONS = (compare_options, compare_counts)

_SKETCHED: Mapping[str, tuple[str, ...]] = {
    "body": ("inverse weight",),
    "joint": ("actuatorgravcomp", "inverse weight"),
    "geom": ("gap", "fluid"),
}
"""Fields that a sketch leaves out: they change nothing that other solvers have, or only with another field."""
_OF_MUJOCO: Mapping[str, tuple[str, ...]] = {
    "joint": ("solreflimit", "solimplimit", "margin", "solreffriction", "solimpfriction"),
    "geom": ("condim", "priority", "solmix", "solref", "solimp", "adhesion", "surfacevel"),
}
"""Fields that only the solvers of MuJoCo have; a sketch has MuJoCo's defaults in their place."""
_SKETCHED_OPTIONS = ("density", "viscosity", "wind", "o_margin", "o_solref", "o_solimp", "o_friction")


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
    meshes, tendons and options of MuJoCo's solvers are left out. Parameters of contacts, limits and actuators that only
    MuJoCo's solvers have are differences where the file states others than the defaults.
    """
    ours = sketch(part)
    match = match_models(theirs, ours, sketched_pairs(part, ours))
    found = [difference for compared in (*_TREE, *_OPTIONS, compare_mujoco_only) for difference in compared(match)]
    return [_without_default(each) for each in found if _is_sketched(each)]


def _without_default(difference: Difference) -> Difference:
    is_own = difference.field in _OF_MUJOCO.get(difference.kind, ())
    return attrs.evolve(difference, ours=OWN) if is_own else difference


def _is_sketched(difference: Difference) -> bool:
    if difference.kind == "option":
        return difference.field in _SKETCHED_OPTIONS
    if difference.field == "condim" and difference.theirs != 1.0:
        return False  # features tell of torsional and rolling friction
    return difference.field not in _SKETCHED.get(difference.kind, ())
