"""Comparison of geoms, of the pairs of them that can collide, and of sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pippin.assets.untyped import mujoco

from .difference import (
    BY_DESIGN,
    TURN,
    Difference,
    Field,
    axes,
    compare_fields,
    compare_values,
    differ,
    fields_of,
    number,
)
from .matching import Match, described

_NAMES = ("condim", "priority", "friction", "solmix", "solref", "solimp", "margin", "gap", "adhesion", "surfacevel")
_CONTACT = fields_of("geom", *_NAMES)
_FLUID = fields_of("geom", "fluid")

_TYPES = {int(value): name[7:].lower() for name, value in mujoco.mjtGeom.__members__.items()}
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
            can = theirs.geom_contype[geom] or theirs.geom_conaffinity[geom]
            yield Difference(element, "exists", True, False, False, None if can else BY_DESIGN["visual geom"])
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
    kinds = _TYPES[int(theirs.geom_type[geom])], _TYPES[int(ours.geom_type[our_geom])]
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
    if collides:
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
    """Compare extent and volume: MuJoCo may choose other axes for one mesh."""
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
    """Compare which of the geoms that both models have can collide."""
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
