"""Validators that attrs does not bring: numbers that must be finite, and quaternions of length one.

`non_negative`, `positive` and `fraction` (from 0 to 1) put finiteness together with a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import attrs
from attrs.validators import and_, ge, gt, le

__all__ = [
    "finite",
    "fraction",
    "in_schema",
    "non_negative",
    "only_where",
    "positive",
    "unit_quaternion",
]


def in_schema(**keywords: Any) -> Callable[[Any], Any]:
    """Return a decorator that says in JSON Schema's words what a validator checks, for `pippin schema`.

    The words stand beside the type of the field, and bind only the values they are about: `minimum` any number,
    `additionalProperties` any table.
    """

    def mark(validator: Any) -> Any:
        validator.json_schema = keywords
        return validator

    return mark


def finite(instance: Any, attribute: Any, value: float) -> None:
    """Reject NaN and the infinities.

    Raises:
        ValueError: `value` is not finite.
    """
    if not math.isfinite(value):
        raise ValueError(f"'{attribute.name}' must be finite: {value}")


def only_where(has_effect: Callable[[Any], bool], needs: str) -> Callable[[Any, Any, Any], None]:
    """Return a validator that refuses a value where it would be ignored; the default stands for no value.

    Args:
        has_effect: Tells of the whole table whether the value has an effect.
        needs: What the table must say for that; it stands in the schema and the reference as well.
    """

    @in_schema(**{"$comment": f"needs {needs}"})
    def check(instance: Any, attribute: Any, value: Any) -> None:
        if value != attribute.default and not has_effect(instance):
            raise ValueError(f"'{attribute.name}' needs {needs}; leave it out otherwise, got {_short(value)}")

    return check


def _short(value: Any) -> str:
    """Return a value as an error shows it; that of a nested table would be long."""
    return "a table" if attrs.has(type(value)) else repr(value)


non_negative = and_(finite, ge(0.0))
"""Reject what is not a finite number of at least 0."""

positive = and_(finite, gt(0.0))
"""Reject what is not a finite number above 0."""

fraction = and_(finite, ge(0.0), le(1.0))
"""Reject what is not a number from 0 to 1."""


def unit_quaternion(instance: Any, attribute: Any, value: tuple[float, float, float, float]) -> None:
    """Reject a quaternion whose length is not one.

    Raises:
        ValueError: The length differs from 1 by more than 1e-3.
    """
    length = math.sqrt(sum(component * component for component in value))
    if not abs(length - 1.0) < 1e-3:
        raise ValueError(f"'{attribute.name}' must be a unit quaternion (x, y, z, w): {value} has length {length:.4g}")
