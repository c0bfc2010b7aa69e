"""Comparison of actuators, which correspond if they act on the same element."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from pippin.assets.untyped import mujoco

from .difference import Difference
from .fields import compare_fields, compare_words, differ, fields_of, number
from .matching import Match, described

_TRANSMISSIONS = {int(value): name[6:].lower() for name, value in mujoco.mjtTrn.__members__.items()}
_KINDS = {"jointinparent": "joint", "slidercrank": "site", "so3": "joint"}
"""Kind of the element that a transmission acts on, if it is not the transmission's name."""

_TYPES = {
    "dyntype": ("actuator_dyntype", mujoco.mjtDyn, 6),
    "gaintype": ("actuator_gaintype", mujoco.mjtGain, 7),
    "biastype": ("actuator_biastype", mujoco.mjtBias, 7),
}
_NAMES = ("gear", "cranklength", "gainprm", "biasprm", "actearly", "armature", "damping", "delay")
_NUMBERS = fields_of("actuator", *_NAMES)
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
        compare_fields("", _NUMBERS, match.theirs, actuator, match.ours, other)
    )


def _is_same_kind(match: Match, actuator: int, other: int) -> bool:
    arrays = [array for array, *_ in _TYPES.values()]
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
    for field, (array, enum, prefix) in _TYPES.items():
        values = getattr(theirs, array)[actuator], getattr(ours, array)[other]
        yield from compare_words(element, field, *(enum(int(value)).name[prefix:].lower() for value in values))
    dynamics = fields_of("actuator", "dynprm") if theirs.actuator_dyntype[actuator] else ()
    yield from compare_fields(element, (*_NUMBERS, *dynamics), theirs, actuator, ours, other)
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
    """Return if the actuator's group is not switched off."""
    group = int(model.actuator_group[actuator])
    return not (0 <= group < 31 and model.opt.disableactuator & (1 << group))
