"""Differences between fields of MuJoCo's model of a file and of Newton's, and lists of them in words."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
from pippin.quaternions import from_mujoco, matrix
from pippin.spelling import listed

Value: TypeAlias = "str | bool | float | tuple[float, ...] | None"

_PLURALS = {"body": "bodies", "mesh": "meshes", "flex": "flexes", "equality": "equalities"}


BY_DESIGN: Mapping[str, str] = tomllib.loads(Path(__file__).with_name("by_design.toml").read_text(encoding="utf-8"))
"""The reason for each difference that is intended. Every one is reported; none is an error."""


@attrs.frozen
class Difference:
    """One field of one element that the two models hold with different values."""

    element: str
    """The element, its kind first: `joint 'knee'`."""

    field: str
    """The field in MJCF's words, or `exists`."""

    theirs: Value
    """The value in MuJoCo's own model of the file."""

    ours: Value
    """The value in the model that Newton made from the import."""

    is_structural: bool = False
    """Whether the mechanism is another one; otherwise, a number differs."""

    reason: str | None = None
    """Reason of a difference that is by design; None for all others."""

    @property
    def is_by_design(self) -> bool:
        """Whether the difference is intended, for the reason given."""
        return self.reason is not None

    @property
    def kind(self) -> str:
        """The kind of element: `joint`."""
        return self.element.split(" ", 1)[0]

    def values(self) -> str:
        """Return both values: `0.5 → 0`."""
        if self.field == "exists":
            return "lost" if self.theirs else "added"
        before, after = _without_zeros(self.theirs, self.ours)
        return f"{_text(before)} → {_text(after)}"

    def __str__(self) -> str:
        """Return the difference in words, with both values."""
        field = "" if self.field == "exists" else f"{self.field} "
        return f"{self.element}: {field}{self.values()}{_because(self)}"


def worded(differences: Iterable[Difference], limit: int | None = None) -> list[str]:
    """Return one line per difference, or per field that differs on several elements of one kind; structural ones first.

    With a limit of the number of lines, the last one counts what was left out.
    """
    ordered = sorted(differences, key=_group)
    lines = [_line(list(group)) for _, group in groupby(ordered, key=_group)]
    if limit is None or len(lines) <= limit:
        return lines
    return [*lines[: limit - 1], f"and {len(lines) - limit + 1} more fields"]


def _group(difference: Difference) -> tuple[bool, bool, str, str, str]:
    change = "" if difference.field != "exists" else difference.values()
    return (
        difference.is_by_design,
        not difference.is_structural,
        difference.kind,
        difference.field + change,
        difference.reason or "",
    )


def _line(group: Sequence[Difference]) -> str:
    first = group[0]
    if len(group) == 1:
        return str(first)
    values = {difference.values() for difference in group}
    names = [difference.element.removeprefix(first.kind).strip() or difference.element for difference in group]
    plural = _PLURALS.get(first.kind, f"{first.kind}s")
    if len(values) == 1:
        head = f"{plural} {listed(names)}"
        changes = first.values()
    else:
        head = f"{len(group)} {plural}"
        changes = listed([f"{name} {difference.values()}" for name, difference in zip(names, group, strict=True)])
    field = "" if first.field == "exists" else f"{first.field} "
    return f"{head}: {field}{changes}{_because(first)}"


def _because(difference: Difference) -> str:
    return f" ({difference.reason})" if difference.is_by_design else ""


def _without_zeros(theirs: Value, ours: Value) -> tuple[Value, Value]:
    """Return two values without the zeros at the end of vectors of more than 4, such as the parameters of a gain."""
    vectors = [value if isinstance(value, tuple) else (value,) for value in (theirs, ours)]
    length = max(map(len, vectors))
    full = [[item for item in vector if isinstance(item, float)] * (length // len(vector)) for vector in vectors]
    if length <= 4 or any(len(vector) != length for vector in full):
        return theirs, ours
    used = max((place for vector in full for place, item in enumerate(vector, 1) if item), default=1)
    return tuple(full[0][:used]), tuple(full[1][:used])


def _text(value: Value) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return " ".join(_text(item) for item in value)
    return f"{round(float(value), 12):.6g}"


TURN = 5e-5
"""Angle below which two orientations are equal [rad]: Newton finds them in single precision."""


@attrs.frozen
class Field:
    """One field that both models store in the same array, one row per element."""

    name: str
    """Its name in MJCF."""

    array: str
    """Its name in `mujoco.MjModel`."""

    floor: float = 1e-7
    """Difference below which two values are equal, in the field's unit."""

    is_structural: bool = False

    reason: str | None = None
    """Reason of a difference that is by design."""


def fields_of(prefix: str, *names: str) -> tuple[Field, ...]:
    """Return fields whose arrays have their names in MJCF after a prefix."""
    return tuple(Field(name, f"{prefix}_{name}") for name in names)


def compare_fields(
    element: str, fields: Iterable[Field], theirs: Any, their_row: Any, ours: Any, our_row: Any
) -> Iterator[Difference]:
    """Yield the differences of one element in a table of fields."""
    for field in fields:
        before, after = getattr(theirs, field.array)[their_row], getattr(ours, field.array)[our_row]
        yield from compare_values(element, field.name, before, after, field.floor, field.is_structural, field.reason)


def compare_values(
    element: str,
    field: str,
    theirs: Any,
    ours: Any,
    floor: float = 1e-7,
    is_structural: bool = False,
    reason: str | None = None,
) -> Iterator[Difference]:
    """Yield a difference if two numbers or vectors differ by more than rounding and the floor."""
    if differ(theirs, ours, floor):
        yield Difference(element, field, number(theirs), number(ours), is_structural, reason)


def compare_words(
    element: str, field: str, theirs: Value, ours: Value, is_structural: bool = True, reason: str | None = None
) -> Iterator[Difference]:
    """Yield a difference if two words, truth values or counts are not equal."""
    if theirs != ours:
        yield Difference(element, field, theirs, ours, is_structural, reason)


def differ(theirs: Any, ours: Any, floor: float = 1e-7) -> bool:
    """Return if two numbers or vectors differ by more than the rounding of single precision and the floor."""
    before, after = np.asarray(theirs, dtype=float).ravel(), np.asarray(ours, dtype=float).ravel()
    if before.shape != after.shape:
        return True
    scale = max(np.abs(before).max(initial=0.0), np.abs(after).max(initial=0.0))
    # Newton stores single precision, and MuJoCo writes six digits.
    return bool(np.abs(before - after).max(initial=0.0) > floor + 1e-5 * scale)


def number(value: Any) -> Value:
    """Return a row of an array as a plain value; a vector of equal numbers as one number."""
    items: Sequence[float] = np.asarray(value, dtype=float).ravel().tolist()
    if items and all(item == items[0] for item in items):
        return items[0]
    return tuple(items)


def axes(quaternion: np.ndarray) -> np.ndarray:
    """Return the turned axes of a quaternion of MuJoCo as columns, shape [3, 3]."""
    return matrix(from_mujoco(quaternion))
