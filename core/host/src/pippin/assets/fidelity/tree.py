"""Comparison of the trees of two models: bodies, joints, geoms with the pairs that can collide, and sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

from .arrays import fields
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
    fields_of,
    number,
)
from .matching import NO_MASS, Match, compare_pairs, described

_ROUNDING = 2.0**-22
"""Rounding of a link relative to its place in the world: Newton's importer subtracts two places in single precision."""

_BODY, _JOINT, _DOF = fields("body"), fields("jnt"), fields("dof")
_LIMIT = (Field("solreflimit", "jnt_solref"), Field("solimplimit", "jnt_solimp"), Field("margin", "jnt_margin"))
_FRICTION = (Field("solreffriction", "dof_solref"), Field("solimpfriction", "dof_solimp"))

_UNBOUNDED = 1e6
"""Force from which on a bound is none [N or N·m]."""

_TYPES = {0: "free", 1: "ball", 2: "slide", 3: "hinge"}
_DOF_COUNTS = {0: 6, 1: 3, 2: 1, 3: 1}


def compare_bodies(match: Match) -> Iterator[Difference]:
    """Yield the differences of bodies; a body of ours without mass that only carries a joint is none."""
    theirs, ours = match.theirs, match.ours
    total, our_total = theirs.body_mass.sum(), ours.body_mass.sum()
    yield from compare_values("model", "total mass", total, our_total, NO_MASS)
    for body in range(1, theirs.nbody):
        element = match.name("body", body)
        if body in match.bodies:
            yield from _compare_body(match, element, body, match.bodies[body])
        else:
            yield Difference(element, "exists", True, False, True)
    for body in sorted(set(range(1, ours.nbody)) - set(match.bodies.values())):
        if ours.body_mass[body] >= NO_MASS or ours.body_geomnum[body]:
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
    far = np.abs(match.frames[1].xpos[[our_parent, our_body]]).max()
    yield from compare_values(element, "pos", places[0][0], places[1][0], 1e-6 + _ROUNDING * far, True)
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
    if np.abs(theirs - ours).max() > 1e-3 * np.abs(theirs).max():
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


_CONTACT = fields("geom")
_FLUID = fields_of("geom", "fluid")

_FORMS = {int(value): name[7:].lower() for name, value in mujoco.mjtGeom.__members__.items()}
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
"""Number of sizes that have a meaning; a mesh's size follows from its file."""
_ROUND = ("capsule", "cylinder", "plane")

_DIRECTIONS = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)
"""Directions in which the extent of a mesh is measured."""
_ALONG = np.abs(_DIRECTIONS).sum(axis=1) == 1
"""Those along the axes."""


def compare_geoms(match: Match) -> Iterator[Difference]:
    """Yield the differences of geoms and of the pairs that can collide."""
    theirs, ours = match.theirs, match.ours
    pairs, our_pairs = match.pairs
    colliding = {geom for pair in pairs for geom in pair}
    for geom in range(theirs.ngeom):
        element = match.name("geom", geom)
        if geom in match.geoms:
            yield from _compare_geom(match, element, geom, match.geoms[geom], geom in colliding)
        elif geom in colliding:
            yield Difference(element, "exists", True, False, True)
        elif int(theirs.geom_bodyid[geom]) in match.bodies:
            acts = theirs.geom_contype[geom] or theirs.geom_conaffinity[geom] or theirs.geom_fluid[geom].any()
            yield Difference(element, "exists", True, False, False, None if acts else BY_DESIGN["visual geom"])
    our_colliding = {geom for pair in our_pairs for geom in pair}
    for geom in sorted(set(range(ours.ngeom)) - set(match.geoms.values())):
        yield Difference(described(ours, "geom", geom), "exists", False, True, geom in our_colliding)
    yield from _compare_pairs(match)


def compare_sites(match: Match) -> Iterator[Difference]:
    """Yield the differences of sites."""
    theirs, ours = match.theirs, match.ours
    for site in range(theirs.nsite):
        element = match.name("site", site)
        if site not in match.sites:
            yield Difference(element, "exists", True, False)
            continue
        other = match.sites[site]
        yield from compare_fields(element, (Field("pos", "site_pos", 1e-6),), theirs, site, ours, other)
        if differ(axes(theirs.site_quat[site]), axes(ours.site_quat[other]), 1e-5):
            yield Difference(element, "orientation", number(theirs.site_quat[site]), number(ours.site_quat[other]))


def _compare_geom(match: Match, element: str, geom: int, our_geom: int, collides: bool) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    kinds = _FORMS[int(theirs.geom_type[geom])], _FORMS[int(ours.geom_type[our_geom])]
    if kinds[0] != kinds[1]:
        yield Difference(element, "type", *kinds, collides)
        return
    has_form = ours.geom_dataid[our_geom] >= 0  # a sketch leaves it out
    if kinds[0] in ("mesh", "sdf"):
        yield from _compare_mesh(match, element, geom, our_geom) if has_form else ()
    elif kinds[0] != "hfield" or has_form:
        yield from _compare_pose(match, element, kinds[0], geom, our_geom)
    if kinds[0] == "hfield" and has_form:
        yield from _compare_heights(match, element, int(theirs.geom_dataid[geom]), int(ours.geom_dataid[our_geom]))
    if collides or theirs.geom_contype[geom] or theirs.geom_conaffinity[geom]:  # with the ground, or another asset
        yield from compare_fields(element, _CONTACT, theirs, geom, ours, our_geom)
    if theirs.opt.density or theirs.opt.viscosity:
        yield from compare_fields(element, _FLUID, theirs, geom, ours, our_geom)


def _compare_pose(match: Match, element: str, kind: str, geom: int, our_geom: int) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    sizes = _SIZES.get(kind, 0)
    yield from compare_values(element, "size", theirs.geom_size[geom][:sizes], ours.geom_size[our_geom][:sizes])
    yield from compare_fields(element, (Field("pos", "geom_pos", 1e-6),), theirs, geom, ours, our_geom)
    turned = axes(theirs.geom_quat[geom]), axes(ours.geom_quat[our_geom])
    if kind in _ROUND:
        turned = turned[0][:, 2], turned[1][:, 2]
        if kind != "plane" and turned[0] @ turned[1] < 0.0:
            turned = turned[0], -turned[1]
    if kind != "sphere" and differ(*turned, TURN):
        yield Difference(element, "orientation", number(theirs.geom_quat[geom]), number(ours.geom_quat[our_geom]))


def _compare_mesh(match: Match, element: str, geom: int, our_geom: int) -> Iterator[Difference]:
    extent, volume = _solid(match.theirs, geom)
    our_extent, our_volume = _solid(match.ours, our_geom)
    size = float(np.ptp(extent))
    if np.abs(extent - our_extent).max() > 2e-5 * size + 1e-6:
        yield Difference(element, "extent of the mesh", number(extent[_ALONG]), number(our_extent[_ALONG]))
    if abs(volume - our_volume) > 1e-4 * abs(volume) + 1e-9 * size**3:
        yield Difference(element, "volume of the mesh", volume, our_volume)


def _solid(model: Any, geom: int) -> tuple[np.ndarray, float]:
    """Return the furthest extent of a mesh in each direction, in the body's frame [m], and its volume [m³].

    The volume is positive whatever the sense of the triangles: hulls collide.
    """
    mesh = int(model.geom_dataid[geom])
    rows = slice(model.mesh_vertadr[mesh], model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh])
    vertices = model.mesh_vert[rows].astype(float) @ axes(model.geom_quat[geom]).T + model.geom_pos[geom]
    faces = model.mesh_face[model.mesh_faceadr[mesh] : model.mesh_faceadr[mesh] + model.mesh_facenum[mesh]]
    corners = (vertices - vertices.mean(axis=0))[faces]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    return (vertices @ _DIRECTIONS.T).max(axis=0), abs(float(volume))


def _compare_heights(match: Match, element: str, field: int, our_field: int) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    counts = Field("nrow", "hfield_nrow"), Field("ncol", "hfield_ncol"), Field("size of the field", "hfield_size")
    found = list(compare_fields(element, counts, theirs, field, ours, our_field))
    yield from found
    if not found:
        span = theirs.hfield_nrow[field] * theirs.hfield_ncol[field]
        rows = [slice(m.hfield_adr[i], m.hfield_adr[i] + span) for m, i in ((theirs, field), (ours, our_field))]
        heights = [
            m.hfield_data[row] * m.hfield_size[i][2]
            for m, row, i in ((theirs, rows[0], field), (ours, rows[1], our_field))
        ]
        gap = float(np.abs(heights[0] - heights[1]).max())
        if gap > 1e-5 * float(theirs.hfield_size[field][2]):
            yield Difference(element, "largest height error", 0.0, gap)


def _compare_pairs(match: Match) -> Iterator[Difference]:
    pairs, our_pairs = match.pairs
    known = {j: i for i, j in match.geoms.items()}
    theirs = {pair for pair in pairs if pair[0] in match.geoms and pair[1] in match.geoms}
    ours = {tuple(sorted((known[i], known[j]))) for i, j in our_pairs if i in known and j in known}
    for first, second in sorted(theirs ^ ours):
        element = f"pair {match.name('geom', first)} and {match.name('geom', second)}"
        can = (first, second) in theirs
        reason = (
            BY_DESIGN["child of a fixed body"] if can and _is_fixed_and_child(match.theirs, first, second) else None
        )
        yield Difference(element, "can collide", can, not can, reason is None, reason)


def _is_fixed_and_child(model: Any, first: int, second: int) -> bool:
    """Tell whether one geom is on a body that is fixed to the world, and the other on one that a joint ties to such."""
    welds = model.body_weldid
    bodies = [int(model.geom_bodyid[geom]) for geom in (first, second)]
    fixed, moving = sorted(bodies, key=lambda body: int(welds[body]))
    return fixed > 0 and welds[fixed] == 0 and welds[moving] > 0 and welds[model.body_parentid[welds[moving]]] == 0
