"""Fields that several tables of a scene have: numbers, vectors, orientations, and attributes of solvers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from attrs.validators import deep_iterable, optional
from pippin.validators import finite, non_negative, unit_quaternion

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

HERE: Vector3 = (0.0, 0.0, 0.0)
UPRIGHT: Quaternion = (0.0, 0.0, 0.0, 1.0)


def number(*validators: Any) -> Any:
    """Return a field for a finite number >= 0; the default None leaves it to Newton or the tendon."""
    return attrs.field(default=None, validator=[optional(non_negative), *validators])


def vector(default: Vector3 = HERE) -> Any:
    """Return a field for a vector of finite numbers."""
    return attrs.field(default=default, validator=deep_iterable(finite))


def orientation() -> Any:
    """Return a field for a unit quaternion (x, y, z, w); by default no rotation."""
    return attrs.field(default=UPRIGHT, validator=[deep_iterable(finite), unit_quaternion])


def not_zero(instance: Any, attribute: Any, value: Vector3) -> None:
    """Reject a direction of length zero."""
    if not any(value):
        raise ValueError(f"'{attribute.name}' must be a direction, not {list(value)}")


def _are_named(instance: Any, attribute: Any, value: Mapping[str, Any]) -> None:
    for name, number in value.items():
        if ":" not in name:
            raise ValueError(
                f"'{attribute.name}': must be names such as 'mujoco:condim', with the solver first: {name!r}"
            )
        for each in number.values() if isinstance(number, Mapping) else (number,):
            finite(instance, attribute, each)


def attributes_field() -> Any:
    """Return a field for numbers, or lists of components, or tables of them, by `SOLVER:NAME`; empty by default."""
    return attrs.field(factory=dict, validator=_are_named)
