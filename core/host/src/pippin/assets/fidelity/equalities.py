"""Comparison of equality constraints, with anchors and poses in the frames of the bodies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pippin.assets.untyped import mujoco
from pippin.quaternions import conjugate, from_mujoco, matrix, product

from .difference import Difference
from .fields import Field, compare_fields, compare_values, compare_words, differ
from .matching import Match, described

_TYPES = {int(value): name[5:].lower() for name, value in mujoco.mjtEq.__members__.items()}
_SITE = int(mujoco.mjtObj.mjOBJ_SITE)
_ANCHOR_ERROR = 1e-4
"""Distance between anchors up to which they are one [m]: in single precision, those of long chains differ by less."""

_NUMBERS = (Field("solref", "eq_solref"), Field("solimp", "eq_solimp"))


def compare_equalities(match: Match) -> Iterator[Difference]:
    """Yield the differences of equality constraints; one of ours that is not active and has no counterpart is none."""
    theirs, ours = match.theirs, match.ours
    free = list(range(ours.neq))
    for row in range(theirs.neq):
        element = f"equality {_text(theirs, row)}"
        objects, alike = _mapped(match, row), []
        for other in free:
            kind, first, second = _objects(ours, other)
            if objects == (kind, first, second):
                alike.append((other, False))
            elif objects == (kind, second, first) and kind in ("connect", "weld"):
                alike.append((other, True))
        if not alike:
            yield Difference(element, "exists", True, False, True)
            continue
        found = [list(_compare_equality(match, element, row, other, swapped)) for other, swapped in alike]
        best = min(range(len(alike)), key=lambda index: len(found[index]))
        free.remove(alike[best][0])
        yield from found[best]
    for other in free:
        if ours.eq_active0[other]:
            yield Difference(f"equality {_text(ours, other)}", "exists", False, True, True)


def _objects(model: Any, row: int) -> tuple[str, int, int]:
    """Return type and objects of a constraint; the bodies of sites."""
    objects = [int(model.eq_obj1id[row]), int(model.eq_obj2id[row])]
    kind = _TYPES[int(model.eq_type[row])]
    if model.eq_objtype[row] == _SITE and kind in ("connect", "weld"):
        objects = [int(model.site_bodyid[site]) for site in objects]
    elif kind in ("connect", "weld"):
        objects = [max(body, 0) for body in objects]
    return kind, objects[0], objects[1]


def _mapped(match: Match, row: int) -> tuple[str, int, int]:
    """Return type and objects of a constraint of theirs, by the indices of ours; -2 for one that ours lacks."""
    kind, *objects = _objects(match.theirs, row)
    held = {"connect": "body", "weld": "body", "joint": "joint", "tendon": "tendon"}.get(kind)
    if held is None:
        return kind, objects[0], objects[1]
    first, second = (match.indices(held).get(index, -2) if index >= 0 else -1 for index in objects)
    return kind, first, second


def _text(model: Any, row: int) -> str:
    name = model.eq(row).name
    kind, *objects = _objects(model, row)
    held = {"connect": "body", "weld": "body", "joint": "joint", "tendon": "tendon"}.get(kind)
    ends = [described(model, held, index) for index in objects if held and index >= 0]
    return " ".join(filter(None, [repr(name) if name else "", f"({kind} of {' and '.join(ends)})" if ends else kind]))


def _compare_equality(match: Match, element: str, row: int, other: int, swapped: bool) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    yield from compare_fields(element, _NUMBERS, theirs, row, ours, other)
    yield from compare_words(element, "active", bool(theirs.eq_active0[row]), bool(ours.eq_active0[other]))
    before, after = _data(theirs, row, False), _data(ours, other, swapped)
    for field, value in before.items():
        is_other = field.startswith("anchor") and differ(value, after[field], _ANCHOR_ERROR)
        yield from compare_values(element, field, value, after[field], 2e-6, is_other)


def _data(model: Any, row: int, swapped: bool) -> dict[str, Any]:
    kind, data = _TYPES[int(model.eq_type[row])], model.eq_data[row]
    if kind in ("joint", "tendon"):
        return {"polycoef": data[:5]}
    if kind not in ("connect", "weld"):
        return {"data": data}
    anchors = [data[0:3], data[3:6]] if kind == "connect" else [data[3:6], data[0:3]]
    turn = from_mujoco(data[6:10])
    if model.eq_objtype[row] == _SITE:
        sites = int(model.eq_obj1id[row]), int(model.eq_obj2id[row])
        anchors = [model.site_pos[site] for site in sites]
        first, second = (from_mujoco(model.site_quat[site]) for site in sites)
        turn = product(first, conjugate(second))  # holds the two sites aligned
    if swapped:
        anchors, turn = anchors[::-1], conjugate(turn)
    found = {"anchor on the first body": anchors[0], "anchor on the second body": anchors[1]}
    if kind == "weld":
        found |= {"relative orientation": matrix(turn).ravel(), "torquescale": data[10]}
    return found
