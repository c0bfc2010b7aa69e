"""Comparison of tendons, with what they pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .difference import Difference
from .fields import Field, compare_fields, compare_values
from .matching import Match, compare_pairs, described
from .pairing import tendon_path

_NUMBERS = (
    Field("stiffness", "tendon_stiffness"),
    Field("stiffness of higher orders", "tendon_stiffnesspoly"),
    Field("damping", "tendon_damping"),
    Field("damping of higher orders", "tendon_dampingpoly"),
    Field("frictionloss", "tendon_frictionloss"),
    Field("armature", "tendon_armature"),
)
_LIMIT = (
    Field("range", "tendon_range", 1e-6),
    Field("margin", "tendon_margin"),
    Field("solreflimit", "tendon_solref_lim"),
    Field("solimplimit", "tendon_solimp_lim"),
)
_FRICTION = (Field("solreffriction", "tendon_solref_fri"), Field("solimpfriction", "tendon_solimp_fri"))


def compare_tendons(match: Match) -> Iterator[Difference]:
    """Yield the differences of tendons."""
    yield from compare_pairs(match, "tendon", "ntendon", _compare_tendon)


def _compare_tendon(match: Match, element: str, tendon: int, other: int) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    yield from _compare_path(match, element, tendon, other)
    yield from compare_fields(element, _NUMBERS, theirs, tendon, ours, other)
    if theirs.tendon_stiffness[tendon]:
        field = Field("springlength", "tendon_lengthspring", 1e-6)
        yield from compare_fields(element, (field,), theirs, tendon, ours, other)
    if theirs.tendon_frictionloss[tendon]:
        yield from compare_fields(element, _FRICTION, theirs, tendon, ours, other)
    limits = bool(theirs.tendon_limited[tendon]), bool(ours.tendon_limited[other])
    if all(limits):
        yield from compare_fields(element, _LIMIT, theirs, tendon, ours, other)
    elif any(limits):
        yield Difference(element, "limited", *limits)
    forces = bool(theirs.tendon_actfrclimited[tendon]), bool(ours.tendon_actfrclimited[other])
    if all(forces):
        field = Field("actuatorfrcrange", "tendon_actfrcrange")
        yield from compare_fields(element, (field,), theirs, tendon, ours, other)
    elif any(forces):
        yield Difference(element, "actuatorfrclimited", *forces)


def _compare_path(match: Match, element: str, tendon: int, other: int) -> Iterator[Difference]:
    path, our_path = _path(match.theirs, tendon), _path(match.ours, other)
    expected = [(kind, match.indices(kind).get(index, -2) if kind != "pulley" else -1) for kind, index, _ in path]
    if expected != [(kind, index) for kind, index, _ in our_path]:
        yield Difference(element, "path", _path_text(match.theirs, path), _path_text(match.ours, our_path), True)
        return
    for (kind, index, factor), (_, _, our_factor) in zip(path, our_path, strict=True):
        if kind == "geom" and match.sites.get(int(factor), -1) != int(our_factor):
            sides = _site(match.theirs, factor), _site(match.ours, our_factor)
            yield Difference(element, f"sidesite of {match.name('geom', index)}", *sides, True)
        elif kind in ("joint", "pulley"):
            field = "divisor" if kind == "pulley" else f"coef of {match.name('joint', index)}"
            yield from compare_values(element, field, factor, our_factor)


def _site(model: Any, index: float) -> str:
    return described(model, "site", int(index)) if index >= 0 else "none"


def _path(model: Any, tendon: int) -> list[tuple[str, int, float]]:
    """Return what a tendon passes: kind, index, and coefficient, divisor or side site."""
    first = int(model.tendon_adr[tendon])
    factors = model.wrap_prm[first : first + int(model.tendon_num[tendon])].tolist()
    return [(kind, index, factor) for (kind, index), factor in zip(tendon_path(model, tendon), factors, strict=True)]


def _path_text(model: Any, path: list[tuple[str, int, float]]) -> str:
    return ", ".join(described(model, kind, index) if index >= 0 else kind for kind, index, _ in path) or "nothing"
