"""Parameters of a file that MuJoCo's solvers alone have: of contacts, limits and actuators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

from .difference import Difference, number
from .matching import Match, described
from .pairs import colliding

OWN = "the solver's own"
"""What stands for a value of ours that each solver chooses itself."""

_SOLREF = np.array([0.02, 1.0])
"""MuJoCo's default of the stiffness and damping of constraints."""

_GAP = 1e-4
"""Largest gap of an equality at the start that closes without notice [m, rad]."""


def compare_mujoco_only(match: Match) -> Iterator[Difference]:
    """Yield what the file states for contacts of two geoms, equalities and actuators, and other solvers do not have.

    Our model is the sketch of a builder.
    """
    yield from _compare_frictions(match)
    yield from _compare_stated_pairs(match.theirs)
    yield from _compare_equalities(match.theirs)
    yield from _compare_actuators(match.theirs)


def frictions(model: Any) -> np.ndarray:
    """Return the friction of the contacts of two geoms by MuJoCo's rules, in both directions, shape [geom, geom, 2].

    The geom of the higher priority decides; of equal ones, the larger coefficient. A dimension of 1 has no friction.
    """
    above = model.geom_priority[:, None] - model.geom_priority[None, :]
    chosen = []
    for values in (model.geom_friction[:, 0], model.geom_condim):
        first, second = np.broadcast_arrays(values[:, None], values[None, :])
        chosen.append(np.select([above > 0, above < 0], [first, second], np.maximum(first, second)))
    found = np.repeat(np.where(chosen[1] == 1, 0.0, chosen[0])[..., None], 2, axis=2)
    if model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE):
        found = np.where(chosen[1][..., None] == 1, 0.0, model.opt.o_friction[:2])
    for first, second, values, dimension in zip(
        model.pair_geom1, model.pair_geom2, model.pair_friction, model.pair_dim, strict=True
    ):
        found[first, second] = found[second, first] = values[:2] if dimension > 1 else 0.0
    return found


def _compare_frictions(match: Match) -> Iterator[Difference]:
    """Compare the friction of each pair with the coefficients of both shapes, of which other solvers take a mean."""
    theirs, found = match.theirs, frictions(match.theirs)
    ours = np.full(theirs.ngeom, np.nan)
    for geom, other in match.geoms.items():
        ours[geom] = match.ours.geom_friction[other, 0]
    is_other = np.abs(found - ours[:, None, None]).max(axis=2) > 1e-6
    for first, second in np.argwhere(np.triu(colliding(theirs) & (is_other | is_other.T), 1)).tolist():
        if np.isfinite(ours[[first, second]]).all():
            element = f"pair {match.name('geom', first)} and {match.name('geom', second)}"
            mean = f"a mean of {ours[first]:g} and {ours[second]:g}" if ours[first] != ours[second] else ours[first]
            yield Difference(element, "friction", number(found[first, second]), mean)


def _compare_stated_pairs(theirs: Any) -> Iterator[Difference]:
    for index in range(theirs.npair):
        geoms = [int(theirs.pair_geom1[index]), int(theirs.pair_geom2[index])]
        element = f"pair {' and '.join(described(theirs, 'geom', geom) for geom in geoms)}"
        for field in ("solref", "solimp", "margin"):
            value, of_geoms = getattr(theirs, f"pair_{field}")[index], getattr(theirs, f"geom_{field}")[geoms]
            if min(np.abs(value - each).max() for each in (*of_geoms, of_geoms.sum(axis=0))) > 1e-9:
                yield Difference(element, field, number(value), OWN)


def _compare_equalities(theirs: Any) -> Iterator[Difference]:
    """Yield how hard equalities are, and those that are open at the start: other solvers close them in a step."""
    data = mujoco.MjData(theirs)
    mujoco.mj_fwdPosition(theirs, data)
    rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    for index in range(theirs.neq):
        element = described(theirs, "eq", index).replace("eq ", "equality ", 1)
        if np.any(theirs.eq_solref[index] != _SOLREF):
            yield Difference(element, "solref", number(theirs.eq_solref[index]), OWN)
        gap = float(np.linalg.norm(data.efc_pos[rows & (data.efc_id == index)]))
        if gap > _GAP:
            yield Difference(element, "closing of its gap at the start", gap, OWN)


def _compare_actuators(theirs: Any) -> Iterator[Difference]:
    """Yield delays and one-sided ranges of forces: a drive has one limit for both directions."""
    for index in range(theirs.nu):
        element = described(theirs, "actuator", index)
        if theirs.actuator_delay[index] > 0.0:
            yield Difference(element, "delay", float(theirs.actuator_delay[index]), 0.0)
        limits = theirs.actuator_forcerange[index]
        if theirs.actuator_forcelimited[index] and limits[0] != -limits[1] and theirs.actuator_biastype[index]:
            bound = float(np.abs(limits).max())
            yield Difference(element, "forcerange", number(limits), (-bound, bound))
