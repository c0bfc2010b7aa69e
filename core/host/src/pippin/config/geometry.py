"""Positions, orientations and selections that several tables of a scene have."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import deep_iterable
from pippin.validators import finite, unit_quaternion

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

HERE: Vector3 = (0.0, 0.0, 0.0)
UPRIGHT: Quaternion = (0.0, 0.0, 0.0, 1.0)


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
