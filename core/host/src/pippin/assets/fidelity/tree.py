"""Comparison of bodies and joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .difference import (
    BY_DESIGN,
    TURN,
    Difference,
    Field,
    Value,
    axes,
    compare_fields,
    compare_values,
    compare_words,
    differ,
    number,
)
from .matching import Match, compare_pairs, described

_NO_MASS = 1e-6
"""Mass of a body that only carries a joint [kg]."""

_BODY = (Field("mass", "body_mass", 1e-9), Field("gravcomp", "body_gravcomp"))

_JOINT = (
    Field("actuatorgravcomp", "jnt_actgravcomp"),
    Field("stiffness", "jnt_stiffness"),
    Field("stiffness of higher orders", "jnt_stiffnesspoly"),
)
_LIMIT = (
    Field("solreflimit", "jnt_solref"),
    Field("solimplimit", "jnt_solimp"),
    Field("margin", "jnt_margin"),
)
_DOF = (
    Field("damping", "dof_damping"),
    Field("damping of higher orders", "dof_dampingpoly"),
    Field("armature", "dof_armature", 1e-10),
    Field("frictionloss", "dof_frictionloss"),
)
_FRICTION = (Field("solreffriction", "dof_solref"), Field("solimpfriction", "dof_solimp"))

_WEIGHT = 1e-3
"""Relative difference up to which inverse weights are the same."""

_UNBOUNDED = 1e6
"""Force from which on a bound is none [N or N·m]."""

_TYPES = {0: "free", 1: "ball", 2: "slide", 3: "hinge"}
_DOF_COUNTS = {0: 6, 1: 3, 2: 1, 3: 1}


def compare_bodies(match: Match) -> Iterator[Difference]:
    """Yield the differences of bodies; a body of ours without mass that only carries a joint is none."""
    theirs, ours = match.theirs, match.ours
    total, our_total = theirs.body_mass.sum(), ours.body_mass.sum()
    yield from compare_values("model", "total mass", total, our_total, _NO_MASS)
    for body in range(1, theirs.nbody):
        element = match.name("body", body)
        if body in match.bodies:
            yield from _compare_body(match, element, body, match.bodies[body])
        else:
            yield Difference(element, "exists", True, False, True)
    for body in sorted(set(range(1, ours.nbody)) - set(match.bodies.values())):
        if ours.body_mass[body] >= _NO_MASS or ours.body_geomnum[body]:
            yield Difference(described(ours, "body", body), "exists", False, True, True)


def compare_joints(match: Match) -> Iterator[Difference]:
    """Yield the differences of joints."""
    yield from compare_pairs(match, "joint", "njnt", _compare_joint)


def _compare_body(match: Match, element: str, body: int, our_body: int) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    parent, our_parent = int(theirs.body_parentid[body]), int(ours.body_parentid[our_body])
    known = {j: i for i, j in match.bodies.items()}
    while our_parent not in known:
        our_parent = int(ours.body_parentid[our_parent])
    if known[our_parent] != parent:
        parents = match.name("body", parent), match.name("body", known[our_parent])
        yield Difference(element, "parent", *parents, True)
        return
    yield from compare_fields(element, _BODY, theirs, body, ours, our_body)
    if theirs.body_mass[body] > 0.0:
        yield from _compare_inertia(match, element, body, our_body)
    yield from _compare_weights(element, theirs.body_invweight0[body], ours.body_invweight0[our_body])
    places = _relative(match.frames[0], parent, body), _relative(match.frames[1], our_parent, our_body)
    yield from compare_values(element, "pos", places[0][0], places[1][0], 1e-6, True)
    yield from compare_values(element, "orientation", places[0][1], places[1][1], TURN, True)
    mocap = bool(theirs.body_mocapid[body] >= 0), bool(ours.body_mocapid[our_body] >= 0)
    yield from compare_words(element, "mocap", *mocap, mocap[0], None if mocap[0] else BY_DESIGN["mocap"])


def _compare_inertia(match: Match, element: str, body: int, our_body: int) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    yield from compare_values(element, "inertial pos", theirs.body_ipos[body], ours.body_ipos[our_body], 1e-6)
    before, after = _inertia(theirs, body), _inertia(ours, our_body)
    if differ(before, after, 1e-10 + TURN * np.abs(before).max()):
        yield Difference(element, "fullinertia", _six(before), _six(after))
    elif (theirs.opt.density or theirs.opt.viscosity) and not _are_same_axes(theirs, body, ours, our_body):
        turns = number(theirs.body_iquat[body]), number(ours.body_iquat[our_body])
        yield Difference(element, "inertial orientation, which the medium acts along", *turns)


def _compare_weights(element: str, theirs: Any, ours: Any) -> Iterator[Difference]:
    """Compare inverse weights, by which MuJoCo softens constraints; those of light bodies depend on rounding."""
    if np.abs(theirs - ours).max() > _WEIGHT * np.abs(theirs).max():
        yield Difference(element, "inverse weight", number(theirs), number(ours))


def _are_same_axes(theirs: Any, body: int, ours: Any, our_body: int) -> bool:
    """Return if the principal axes are the same: those of equal moments are free, but the medium acts along them."""
    cosines = np.abs(axes(theirs.body_iquat[body]).T @ axes(ours.body_iquat[our_body]))
    return bool((cosines.max(axis=0) > 1.0 - 1e-6).all())


def _inertia(model: Any, body: int) -> np.ndarray:
    """Return the inertia matrix about the centre of mass, in the body's frame [kg·m²]."""
    principal = axes(model.body_iquat[body])
    return principal @ np.diag(model.body_inertia[body]) @ principal.T


def _six(matrix: np.ndarray) -> tuple[float, ...]:
    rows, columns = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)
    return tuple(matrix[rows, columns].tolist())


def _relative(frames: Any, parent: int, body: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the position [m] and the rotation matrix of a body in its parent's frame, at the start."""
    above = frames.xmat[parent].reshape(3, 3)
    return above.T @ (frames.xpos[body] - frames.xpos[parent]), above.T @ frames.xmat[body].reshape(3, 3)


def _compare_joint(match: Match, element: str, joint: int, our_joint: int) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    kinds = _TYPES[int(theirs.jnt_type[joint])], _TYPES[int(ours.jnt_type[our_joint])]
    if kinds[0] != kinds[1]:
        yield Difference(element, "type", *kinds, True)
        return
    yield from _compare_axis(match, element, joint, our_joint)
    yield from compare_fields(element, _JOINT, theirs, joint, ours, our_joint)
    limited, our_limited = bool(theirs.jnt_limited[joint]), bool(ours.jnt_limited[our_joint])
    if limited != our_limited:
        ranges = number(theirs.jnt_range[joint]), number(ours.jnt_range[our_joint])
        yield Difference(element, "range", ranges[0] if limited else None, ranges[1] if our_limited else None)
    elif limited:
        used = slice(1, 2) if kinds[0] == "ball" else slice(0, 2)
        bounds = theirs.jnt_range[joint][used], ours.jnt_range[our_joint][used]
        yield from compare_values(element, "range", *bounds, 1e-6)
        yield from compare_fields(element, _LIMIT, theirs, joint, ours, our_joint)
    bounds = _force_bounds(theirs, joint), _force_bounds(ours, our_joint)
    if differ(*bounds, 1e-6):
        yield Difference(element, "actuatorfrcrange", _bounds_or_none(bounds[0]), _bounds_or_none(bounds[1]))
    yield from _compare_start(match, element, joint, our_joint)
    yield from _compare_dofs(match, element, joint, our_joint)


def _force_bounds(model: Any, joint: int) -> np.ndarray:
    """Return the least and the largest force of a joint's actuators [N or N·m]; Newton writes no bound as 1e6."""
    is_limited = model.jnt_actfrclimited[joint]
    return np.clip(model.jnt_actfrcrange[joint] if is_limited else (-_UNBOUNDED, _UNBOUNDED), -_UNBOUNDED, _UNBOUNDED)


def _bounds_or_none(bounds: np.ndarray) -> Value:
    return None if (np.abs(bounds) >= _UNBOUNDED).all() else number(bounds)


def _compare_axis(match: Match, element: str, joint: int, our_joint: int) -> Iterator[Difference]:
    """Compare axis and anchor at the start, each in the world."""
    kind = _TYPES[int(match.theirs.jnt_type[joint])]
    ranks = match.rank_of_joint(joint)
    yield from compare_words(element, "order in its body", float(ranks[0] + 1), float(ranks[1] + 1))
    axes = match.frames[0].xaxis[joint], match.frames[1].xaxis[our_joint]
    if kind in ("slide", "hinge"):
        yield from compare_values(element, "axis in the world", *axes, TURN, True)
    anchors = match.frames[0].xanchor[joint], match.frames[1].xanchor[our_joint]
    offset = anchors[1] - anchors[0]
    if kind == "hinge":  # along its axis, the anchor is free
        offset = offset - axes[0] * (offset @ axes[0])
    if kind in ("ball", "hinge") and np.abs(offset).max() > 2e-6 + 1e-5 * np.abs(anchors[0]).max():
        yield Difference(element, "anchor in the world", number(anchors[0]), number(anchors[1]), True)


def _compare_start(match: Match, element: str, joint: int, our_joint: int) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    kind = _TYPES[int(theirs.jnt_type[joint])]
    rows = int(theirs.jnt_qposadr[joint]), int(ours.jnt_qposadr[our_joint])
    if kind in ("slide", "hinge"):
        yield from compare_fields(element, (Field("ref", "qpos0", 1e-6),), theirs, rows[0], ours, rows[1])
    if theirs.jnt_stiffness[joint] and ours.jnt_stiffness[our_joint]:
        count = {"free": 7, "ball": 4}.get(kind, 1)
        spans = slice(rows[0], rows[0] + count), slice(rows[1], rows[1] + count)
        field = Field("springref", "qpos_spring", 1e-6)
        yield from compare_fields(element, (field,), theirs, spans[0], ours, spans[1])


def _compare_dofs(match: Match, element: str, joint: int, our_joint: int) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    count = _DOF_COUNTS[int(theirs.jnt_type[joint])]
    first, our_first = int(theirs.jnt_dofadr[joint]), int(ours.jnt_dofadr[our_joint])
    spans = slice(first, first + count), slice(our_first, our_first + count)
    yield from compare_fields(element, _DOF, theirs, spans[0], ours, spans[1])
    yield from _compare_weights(element, theirs.dof_invweight0[spans[0]], ours.dof_invweight0[spans[1]])
    if theirs.dof_frictionloss[spans[0]].any() and ours.dof_frictionloss[spans[1]].any():
        yield from compare_fields(element, _FRICTION, theirs, spans[0], ours, spans[1])
