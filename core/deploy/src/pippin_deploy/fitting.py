"""A policy of another program beside the file of its task: what differs, and the orders of the numbers of both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from pippin import ConfigError
from pippin.labels import name_of


def orders(said: dict[str, Any], here: dict[str, Any], terms: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return what turns observations of a file into those of a network, and actions of the network into the file's.

    Args:
        said: What another program says of the network, as `foreign_passport` returns it.
        here: The passport of the file.
        terms: The observations of the file, by label.

    Returns:
        Matrices of the shapes [observations here, those of the network] and [actions of the network, those here].

    Raises:
        ConfigError: They differ, by more than the other program rounds; a fault for each difference.
    """
    faults = [
        f"{place}: {said['program']} says {first}, and the file {second}; change the file"
        for place, first, second in _compared(said, here, terms)
        if first is not ... and not _is_alike(first, second, said["rounding"])
    ]
    if faults:
        raise ConfigError(*faults)
    actions = [[name_of(name) for each in passport["actions"] for name in each["labels"]] for passport in (said, here)]
    cells, row = list[tuple[int, int, int, float]](), 0
    for number, (theirs, ours) in enumerate(zip(said["observations"], here["observations"], strict=True)):
        is_action, known = ours["type"] == "last-action", list(map(name_of, ours["labels"]))
        order = list(map(actions[1].index, actions[0]) if is_action else map(known.index, theirs["labels"] or known))
        weights = theirs["scale"] if isinstance(theirs["scale"], list) else [1.0] * len(known)
        for each in range(ours["history"]):
            cells += [(each, number, row + i, weight) for i, weight in zip(order, weights, strict=True)]
            row += len(known)
    if said["layout"] == "frames":
        cells.sort(key=lambda cell: cell[:2])
    inputs = np.zeros((row, len(cells)), np.float32)
    inputs[[cell[2] for cell in cells], range(len(cells))] = [cell[3] for cell in cells]
    return inputs, np.array([[first == second for second in actions[1]] for first in actions[0]], np.float32)


def _compared(said: Any, here: Any, terms: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each place with what the other program says and what the file says."""
    there, own = dict(_laws(said, is_here=False)), dict(_laws(here, is_here=True))
    starts = {name_of(each["name"]): each["start"] for each in here["joints"]}
    yield "control_dt", said["control_dt"], here["control_dt"]
    yield "actions", sorted(there), sorted(own)
    for each in said["joints"]:
        yield f"joints.{each['name']}.start", each["start"], starts.get(each["name"], "has no such joint")
    for name, law in there.items():
        for key, value in law.items() if name in own else ():
            yield f"actions.{name}.{key}", value, own[name][key]
    types = ([each["type"] for each in passport["observations"]] for passport in (said, here))
    yield "observations", next(types), next(types)
    for theirs, ours in zip(said["observations"], here["observations"], strict=False):
        scale, count, config = theirs["scale"], len(ours["labels"]), terms[ours["label"]].of.config
        is_mixed = isinstance(scale, list)  # then the network takes it over
        pairs = {key: (own, getattr(config, key, None)) for key, own in theirs["settings"].items() if key != "command"}
        pairs |= {key: (theirs[key], ours[key]) for key in ("clip", "history")}
        pairs["scale"] = (1.0 if is_mixed else scale, ours["scale"])
        pairs["scale: numbers"] = (len(scale) if is_mixed else ..., count)
        pairs["axes"] = (list(range(count)), ours["columns"])
        pairs["joints"] = (sorted(theirs["labels"]) or ..., sorted(map(name_of, ours["labels"])))
        first = said["observations"][0]["history"] if said["layout"] == "frames" else ...
        pairs["history beside others"] = (first, ours["history"])
        for key, pair in pairs.items():
            yield f"observations.{theirs['label']}.{key}", *pair


def _laws(passport: Any, *, is_here: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what each number does to its joint, with the gains; bounds are those of targets."""
    gains = dict[tuple[str, str], float]()
    for each in passport["actuators"].values():
        for key, row in each["parameters"].items():
            pairs = () if row is ... else zip(map(name_of, each["joints"]), row, strict=False)
            gains |= {(key, name): gain for name, gain in pairs}
    for each in passport["actions"]:
        law = {key: (each["recipe"] or {}).get(key) for key in ("scale", "offset", "clip", "smoothing")}
        for number, name in enumerate(map(name_of, each["labels"])):
            own = {key: row[number] if isinstance(row, list) and len(row) > number else row for key, row in law.items()}
            if is_here and law["clip"] is not None and own["offset"] is not None:
                own["clip"] = sorted(own["offset"] + own["scale"] * bound for bound in law["clip"])
            own |= {key: gains.get((key, name), None if is_here else ...) for key in ("kp", "kd")}
            yield name, {"type": each["type"], **own}


def _is_alike(said: Any, here: Any, rounding: Mapping[str, int]) -> bool:
    """Tell whether a value may be what a program says, which rounds to decimals or digits, else to single precision."""
    if isinstance(said, list | tuple) and isinstance(here, list | tuple):
        return len(said) == len(here) and all(_is_alike(*pair, rounding) for pair in zip(said, here, strict=True))
    if isinstance(said, bool | str | None) or not isinstance(here, int | float):
        return said is ... or said == here
    before = math.floor(math.log10(abs(said))) + 1 if said else 0
    decimals = rounding.get("decimals", rounding.get("digits", 7) - before)
    return abs(said - here) <= 0.5 * 10.0**-decimals + 1e-6 * max(1.0, abs(said))
