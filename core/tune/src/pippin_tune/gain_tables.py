"""Tables of an actuator group for proposed gains: axes with gains that are alike share a pattern."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from pippin.labels import covers, name_of

from .tuning import Gain, Proposal

_SPREAD = 1.1
"""Ratio of two gains up to which they are alike; both get the smaller one."""

_LISTED = 6
"""Joints that a note lists."""


def group_table(proposal: Proposal) -> dict[str, Any]:
    """Return the keys of the group's table: the gains, and everything that a new group needs."""
    kp = {gain.load.label: gain.kp for gain in proposal.gains}
    kd = {gain.load.label: gain.kd for gain in proposal.gains}
    gains = {"kp": table_of(kp), "kd": table_of(kd)}
    if not proposal.is_new:
        return gains
    mode = {"effort_mode": "implicit"} if proposal.is_implicit else {}
    return {"type": "pd", "joints": [".*"], **mode, **gains}


def table_of(values: Mapping[str, float]) -> float | dict[str, float]:
    """Return one value, or values by pattern, for values by label. A pattern matches only the labels of its value."""
    alike: list[tuple[float, list[str]]] = []
    for label, value in sorted(values.items(), key=lambda item: item[1]):
        if alike and value <= _SPREAD * alike[-1][0]:
            alike[-1][1].append(label)
        else:
            alike.append((value, [label]))
    if len(alike) == 1:
        return alike[0][0]
    return {pattern_of(own, list(values)): value for value, own in alike}


def gain_notes(proposal: Proposal, dt: float) -> list[str]:
    """Return what a reader should know about a proposal: axes that the step limits, and efforts that are too small."""
    notes, gains = [], proposal.gains
    limited = [gain for gain in gains if gain.is_limited]
    if limited:
        notes.append(
            f'{_listed(limited)}: the step of {dt:g} s limits the gains; effort_mode = "implicit" or a smaller'
            " simulation.dt lifts this"
        )
    weak = [gain for gain in gains if gain.is_too_weak]
    if weak:
        notes.append(f"{_listed(weak)}: the asset's effort limit is below the weight at the start pose")
    return [f"actuators.{proposal.name}: {note}" for note in notes]


def _listed(gains: Sequence[Gain]) -> str:
    names = list(dict.fromkeys(name_of(gain.load.label) for gain in gains))
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def pattern_of(own: Sequence[str], everything: Sequence[str]) -> str:
    """Return a pattern that matches some labels, and no other of all labels."""
    names = [name_of(label) for label in own]
    head, tail = _start(names), _start([name[::-1] for name in names])[::-1]
    tail = tail[max(tail.find("_"), 0) :]  # not the last letter of "left" and "right"
    short = [f".*{re.escape(tail)}", f"{re.escape(head)}.*"] if len(own) > 1 else []
    exact = "|".join(map(re.escape, dict.fromkeys(names)))
    paths = "|".join(map(re.escape, own))
    for pattern in (*short, exact):
        if {label for label in everything if covers([pattern], label)} == set(own):
            return pattern
    return paths


def _start(names: Sequence[str]) -> str:
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike)
