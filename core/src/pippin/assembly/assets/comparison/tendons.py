"""Comparison of tendons, with what they pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco

from .difference import Difference
from .fields import Field, compare_fields, differ
from .matching import Match, described

__all__ = ["compare_tendons"]

_mujoco: Any = mujoco

_WRAPS = {int(value): name[7:].lower() for name, value in _mujoco.mjtWrap.__members__.items()}
_KINDS = {"joint": "joint", "site": "site", "sphere": "geom", "cylinder": "geom"}

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
    theirs, ours = match.theirs, match.ours
    for tendon in range(theirs.ntendon):
        element = match.name("tendon", tendon)
        if tendon in match.tendons:
            yield from _compare_tendon(match, element, tendon, match.tendons[tendon])
        else:
            yield Difference(element, "exists", True, False, True)
    for tendon in sorted(set(range(ours.ntendon)) - set(match.tendons.values())):
        yield Difference(described(ours, "tendon", tendon), "exists", False, True, True)


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
    expected = [(kind, match.indices(_KINDS[kind]).get(index, -2) if kind in _KINDS else -1) for kind, index, _ in path]
    if expected != [(kind, index) for kind, index, _ in our_path]:
        yield Difference(element, "path", _path_text(match.theirs, path), _path_text(match.ours, our_path), True)
        return
    for (kind, index, factor), (_, our_index, our_factor) in zip(path, our_path, strict=True):
        name = {"joint": "coef", "pulley": "divisor"}.get(kind, "sidesite")
        if name == "sidesite" and kind != "site":
            side, our_side = match.sites.get(int(factor), -1), int(our_factor)
            if side != our_side:
                sides = [
                    described(model, "site", int(site)) if site >= 0 else None
                    for model, site in ((match.theirs, factor), (match.ours, our_factor))
                ]
                yield Difference(element, f"sidesite of {match.name('geom', index)}", sides[0], sides[1], True)
        elif kind != "site" and differ(factor, our_factor):
            yield Difference(element, f"{name} {_place(match.theirs, kind, index)}".strip(), factor, our_factor)
        del our_index


def _path(model: Any, tendon: int) -> list[tuple[str, int, float]]:
    """Return what a tendon passes: kind, index, and coefficient, divisor or side site."""
    first = int(model.tendon_adr[tendon])
    rows = range(first, first + int(model.tendon_num[tendon]))
    kinds = [_WRAPS[int(model.wrap_type[row])] for row in rows]
    return [
        (kind, int(model.wrap_objid[row]) if kind in _KINDS else -1, float(model.wrap_prm[row]))
        for kind, row in zip(kinds, rows, strict=True)
    ]


def _path_text(model: Any, path: list[tuple[str, int, float]]) -> str:
    return ", ".join(_place(model, kind, index) or kind for kind, index, _ in path) or "nothing"


def _place(model: Any, kind: str, index: int) -> str:
    return described(model, _KINDS[kind], index) if kind in _KINDS else ""
