"""Comparison of single fields: the tolerance, and tables of fields that are compared alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from pippin.quaternions import from_mujoco, matrix

from .difference import Difference, Value

_RELATIVE = 1e-5
"""Newton stores single precision, and MuJoCo writes six digits."""

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
    return bool(np.abs(before - after).max(initial=0.0) > floor + _RELATIVE * scale)


def number(value: Any) -> Value:
    """Return a row of an array as a plain value; a vector of equal numbers as one number."""
    items: Sequence[float] = np.asarray(value, dtype=float).ravel().tolist()
    if items and all(item == items[0] for item in items):
        return items[0]
    return tuple(items)


def axes(quaternion: np.ndarray) -> np.ndarray:
    """Return the turned axes of a quaternion of MuJoCo as columns, shape [3, 3]."""
    return matrix(from_mujoco(quaternion))
