"""Comparison of what couples joints and bodies: tendons, equality constraints and actuators."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import mujoco
from pippin.quaternions import conjugate, from_mujoco, matrix, product

from .arrays import fields
from .difference import (
    BY_DESIGN,
    Difference,
    Field,
    compare_fields,
    compare_values,
    compare_words,
    differ,
    fields_of,
    number,
)
from .matching import Match, compare_pairs, described, tendon_path

_TENDON = fields("tendon")
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
    yield from compare_fields(element, _TENDON, theirs, tendon, ours, other)
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
    first = int(model.tendon_adr[tendon])
    factors = model.wrap_prm[first : first + int(model.tendon_num[tendon])].tolist()
    return [(kind, index, factor) for (kind, index), factor in zip(tendon_path(model, tendon), factors, strict=True)]


def _path_text(model: Any, path: list[tuple[str, int, float]]) -> str:
    return ", ".join(described(model, kind, index) if index >= 0 else kind for kind, index, _ in path) or "nothing"


_EQUALITIES = {int(value): name[5:].lower() for name, value in mujoco.mjtEq.__members__.items()}
_SITE = int(mujoco.mjtObj.mjOBJ_SITE)
_EQUALITY, _PAIR = fields("eq"), fields("pair")


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
            reason = BY_DESIGN["equality of one body"] if is_void(theirs, row) else None
            yield Difference(element, "exists", True, False, reason is None, reason)
            continue
        found = [list(_compare_equality(match, element, row, other, swapped)) for other, swapped in alike]
        best = min(range(len(alike)), key=lambda index: len(found[index]))
        free.remove(alike[best][0])
        yield from found[best]
    for other in free:
        if ours.eq_active0[other]:
            yield Difference(f"equality {_text(ours, other)}", "exists", False, True, True)


def is_void(model: Any, row: int) -> bool:
    """Return whether an equality holds a body to itself, so that it has no effect."""
    kind, first, second = _objects(model, row)
    return kind in ("connect", "weld") and first == second


def _objects(model: Any, row: int) -> tuple[str, int, int]:
    objects = [int(model.eq_obj1id[row]), int(model.eq_obj2id[row])]
    kind = _EQUALITIES[int(model.eq_type[row])]
    if kind == "weld" and model.eq_data[row, 10] == 0.0:
        kind = "connect"  # without a torque
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
    yield from compare_fields(element, _EQUALITY, theirs, row, ours, other)
    yield from compare_words(element, "active", bool(theirs.eq_active0[row]), bool(ours.eq_active0[other]))
    before, after = _data(theirs, row, False), _data(ours, other, swapped)
    for field, value in before.items():
        # Anchors closer than 0.1 mm are one: in single precision, those of long chains differ by less.
        is_other = field.startswith("anchor") and differ(value, after[field], 1e-4)
        yield from compare_values(element, field, value, after[field], 2e-6, is_other)


def _data(model: Any, row: int, swapped: bool) -> dict[str, Any]:
    (kind, *_), data = _objects(model, row), model.eq_data[row]
    if kind in ("joint", "tendon"):
        return {"polycoef": data[:5]}
    if kind not in ("connect", "weld"):
        return {"data": data}
    is_weld = _EQUALITIES[int(model.eq_type[row])] == "weld"
    anchors = [data[3:6], data[0:3]] if is_weld else [data[0:3], data[3:6]]
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


def compare_listed_pairs(match: Match) -> Iterator[Difference]:
    """Yield the differences of the pairs of geoms that the file lists with parameters of their contact."""
    theirs, ours = match.theirs, match.ours
    rows = {frozenset(pair): row for row, pair in enumerate(zip(ours.pair_geom1, ours.pair_geom2, strict=True))}
    for row, pair in enumerate(zip(theirs.pair_geom1.tolist(), theirs.pair_geom2.tolist(), strict=True)):
        element = f"pair {' and '.join(match.name('geom', geom) for geom in pair)}"
        other = rows.get(frozenset(match.geoms.get(geom, -1) for geom in pair))
        if other is None:
            yield Difference(element, "exists", True, False, True)
        else:
            yield from compare_fields(element, _PAIR, theirs, row, ours, other)


_TRANSMISSIONS = {int(value): name[6:].lower() for name, value in mujoco.mjtTrn.__members__.items()}
_KINDS = {"jointinparent": "joint", "slidercrank": "site", "so3": "joint"}
"""Kind of the element that a transmission acts on, if it is not the transmission's name."""

_LAWS = {
    "dyntype": ("actuator_dyntype", mujoco.mjtDyn, 6),
    "gaintype": ("actuator_gaintype", mujoco.mjtGain, 7),
    "biastype": ("actuator_biastype", mujoco.mjtBias, 7),
}
_ACTUATOR = fields("actuator")
_MUSCLE, _DC_MOTOR = int(mujoco.mjtGain.mjGAIN_MUSCLE), int(mujoco.mjtGain.mjGAIN_DCMOTOR)
_RANGES = ("ctrl", "force", "act")


def compare_actuators(match: Match) -> Iterator[Difference]:
    """Yield the differences of actuators."""
    theirs, ours = match.theirs, match.ours
    pairs = _pairs(match)
    for actuator in range(theirs.nactuator):
        element = match.name("actuator", actuator)
        if not theirs.actuator(actuator).name:
            element += f" on {_target_text(theirs, actuator)}"
        if actuator in pairs:
            yield from _compare_actuator(match, element, actuator, pairs[actuator])
        else:
            yield Difference(element, "exists", True, False, True)
    for actuator in sorted(set(range(ours.nactuator)) - set(pairs.values())):
        element = f"{described(ours, 'actuator', actuator)} on {_target_text(ours, actuator)}"
        yield Difference(element, "exists", False, True, True)


def _pairs(match: Match) -> dict[int, int]:
    """Return the actuator of ours for each of theirs: the same target, and if possible the same gain, bias and gear."""
    free = list(range(match.ours.nactuator))
    pairs: dict[int, int] = {}
    for is_close in (_is_equal, _is_same_kind, lambda *_: True):
        for actuator in range(match.theirs.nactuator):
            if actuator in pairs:
                continue
            target = _target(match, actuator)
            alike = (j for j in free if _own_target(match.ours, j) == target and is_close(match, actuator, j))
            chosen = next(alike, None)
            if chosen is not None:
                pairs[actuator] = chosen
                free.remove(chosen)
    return pairs


def _is_equal(match: Match, actuator: int, other: int) -> bool:
    return _is_same_kind(match, actuator, other) and not list(
        compare_fields("", _ACTUATOR, match.theirs, actuator, match.ours, other)
    )


def _is_same_kind(match: Match, actuator: int, other: int) -> bool:
    arrays = [array for array, *_ in _LAWS.values()]
    return all(getattr(match.theirs, array)[actuator] == getattr(match.ours, array)[other] for array in arrays)


def _own_target(model: Any, actuator: int) -> Hashable:
    transmission = _TRANSMISSIONS[int(model.actuator_trntype[actuator])]
    return _KINDS.get(transmission, transmission), *map(int, model.actuator_trnid[actuator])


def _target(match: Match, actuator: int) -> Hashable:
    """Return the target of an actuator of theirs by the indices of ours; -2 for an element that ours lacks."""
    kind, *indices = _own_target(match.theirs, actuator)  # pyrefly: ignore[not-iterable]
    return kind, *(match.indices(kind).get(index, -2) if index >= 0 else index for index in indices)


def _target_text(model: Any, actuator: int) -> str:
    kind, first, *_ = _own_target(model, actuator)  # pyrefly: ignore[not-iterable]
    return described(model, kind, first) if first >= 0 else "nothing"


def _compare_actuator(match: Match, element: str, actuator: int, other: int) -> Iterator[Difference]:
    theirs, ours = match.theirs, match.ours
    kinds = [_TRANSMISSIONS[int(m.actuator_trntype[i])] for m, i in ((theirs, actuator), (ours, other))]
    yield from compare_words(element, "transmission", *kinds)
    for field, (array, enum, prefix) in _LAWS.items():
        values = getattr(theirs, array)[actuator], getattr(ours, array)[other]
        yield from compare_words(element, field, *(enum(int(value)).name[prefix:].lower() for value in values))
    is_read = {
        "dynprm": theirs.actuator_dyntype[actuator],
        "lengthrange": _MUSCLE in (theirs.actuator_gaintype[actuator], theirs.actuator_biastype[actuator]),
        "ctrlspec": theirs.actuator_gaintype[actuator] == _DC_MOTOR,
    }
    read = fields_of("actuator", *(name for name, is_in_use in is_read.items() if is_in_use))
    yield from compare_fields(element, (*_ACTUATOR, *read), theirs, actuator, ours, other)
    for name in _RANGES:
        yield from _compare_range(match, element, name, actuator, other)
    yield from compare_words(element, "is active", _is_active(theirs, actuator), _is_active(ours, other))


def _compare_range(match: Match, element: str, name: str, actuator: int, other: int) -> Iterator[Difference]:
    ranges = []
    for model, index in ((match.theirs, actuator), (match.ours, other)):
        limited = getattr(model, f"actuator_{name}limited")
        index = model.actuator_ctrladr[index] if name == "ctrl" and len(limited) != model.nactuator else index
        ranges.append(number(getattr(model, f"actuator_{name}range")[index]) if limited[index] else None)
    before, after = ranges
    if before is not after if None in ranges else differ(before, after, 1e-6):
        yield Difference(element, f"{name}range", before, after)


def _is_active(model: Any, actuator: int) -> bool:
    group = int(model.actuator_group[actuator])
    return not (0 <= group < 31 and model.opt.disableactuator & (1 << group))
