"""Comparison of options and flags, and of the number of elements that only one of the models can hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pippin.assets.untyped import mujoco

from .difference import BY_DESIGN, Difference, compare_values, compare_words
from .matching import Match

_NUMBERS = (
    *("timestep", "impratio", "iterations", "ls_iterations", "tolerance", "ls_tolerance", "noslip_iterations"),
    *("ccd_iterations", "ccd_tolerance", "wind", "density", "viscosity"),
)
_SDF = ("sdf_iterations", "sdf_initpoints")
_OVERRIDES = ("o_margin", "o_solref", "o_solimp", "o_friction")
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
        names += _SDF
    if match.theirs.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE):
        names += _OVERRIDES
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
