"""Validators that attrs lacks: finite numbers, unit quaternions, and values that need other values.

`non_negative`, `positive` and `fraction` (from 0 to 1) combine finiteness with bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

import attrs
from attrs.validators import and_, ge, gt, le

from .errors import ConfigError, SimulationError

__all__ = [
    "MOST_READINGS",
    "finite",
    "fraction",
    "in_schema",
    "kept_readings",
    "non_negative",
    "only_where",
    "ordered",
    "positive",
    "principal_moments",
    "range_ends",
    "slice_or_indices",
    "unit_quaternion",
    "whole_number",
]

_SLICE = r"^(-?\d+)?:(-?\d+)?(:[1-9]\d*)?$"


def in_schema(**keywords: Any) -> Callable[[Any], Any]:
    """Return a decorator that describes a validator by keywords of JSON Schema, for `pippin schema`.

    The keywords are added to the type of the field. Each constrains only values of its own kind: `minimum` numbers,
    `additionalProperties` tables.
    """

    def mark(validator: Any) -> Any:
        validator.json_schema = keywords
        return validator

    return mark


def finite(instance: Any, attribute: Any, value: Any) -> None:
    """Reject NaN and the infinities: as the value, and in a tuple or a table of numbers.

    Raises:
        ValueError: A number is not finite.
    """
    numbers = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else [value]
    for number in numbers:
        if isinstance(number, float) and not math.isfinite(number):
            raise ValueError(f"'{attribute.name}' must be finite: {number}")


def ordered(instance: Any, attribute: Any, value: tuple[float, float] | None) -> None:
    """Reject a range whose lowest value is above its highest, or that has no end; None is permitted.

    Raises:
        ValueError: It is not ordered, or not finite.
    """
    if value is not None and not -math.inf < value[0] <= value[1] < math.inf:
        raise ValueError(f"'{attribute.name}' must be a range [low, high] with low <= high, both finite: {list(value)}")


def range_ends(low: float | None, high: float | None) -> tuple[float, float]:
    """Return the ends of the range of the keys `low` and `high`, infinite if there is none.

    Raises:
        ValueError: The range has no end, or is empty.
    """
    ends = -math.inf if low is None else low, math.inf if high is None else high
    if ends == (-math.inf, math.inf):
        raise ValueError("'low' and 'high' must make a range; give at least one of them, and finite")
    if not ends[0] < ends[1]:
        raise ValueError(f"'low' and 'high' must make a range with low < high, got {low} and {high}")
    return ends


def only_where(has_effect: Callable[[Any], bool], needs: str) -> Callable[[Any, Any, Any], None]:
    """Return a validator that refuses a value that would be ignored; the default counts as no value.

    Args:
        has_effect: Takes the whole table and returns whether the value has an effect.
        needs: This condition in words, for the error, the schema and the reference.

    Raises:
        ValueError: The validator does, if a value has no effect.
    """

    @in_schema(**{"$comment": f"needs {needs}"})
    def check(instance: Any, attribute: Any, value: Any) -> None:
        if value != attribute.default and not has_effect(instance):
            # The contents of nested tables would be too long.
            are_tables = isinstance(value, tuple) and attrs.has(type(value[0]))
            got = "a table" if attrs.has(type(value)) else f"{len(value)} tables" if are_tables else repr(value)
            raise ValueError(f"'{attribute.name}' needs {needs}; leave it out otherwise, got {got}")

    return check


non_negative = and_(finite, ge(0.0))
"""Reject what is not a finite number of at least 0."""

positive = and_(finite, gt(0.0))
"""Reject what is not a finite number above 0."""

fraction = and_(finite, ge(0.0), le(1.0))
"""Reject what is not a number from 0 to 1."""


MOST_READINGS = 100_000
"""Largest number of readings that a delay or a history keeps."""

kept_readings = le(MOST_READINGS)
"""Reject a delay or a history of more than 100 000 readings."""


@in_schema(pattern=_SLICE, minItems=1, items={"minimum": 0})
def slice_or_indices(instance: Any, attribute: Any, value: str | tuple[int, ...]) -> None:
    """Reject what is neither a slice of worlds, such as `"0:32"`, nor a list of their indices.

    Raises:
        ValueError: `value` is an empty list, or no slice with a positive step.
    """
    if isinstance(value, str) and not re.fullmatch(_SLICE, value):
        raise ValueError(f"'{attribute.name}' must be a slice with a positive step, such as '0:32' or '::2': {value!r}")
    if not value:
        raise ValueError(f"'{attribute.name}' must hold at least one world; leave it out for all of them")


def unit_quaternion(instance: Any, attribute: Any, value: tuple[float, float, float, float]) -> None:
    """Reject a quaternion whose length is not one.

    Raises:
        ValueError: The length differs from 1 by more than 1e-3.
    """
    length = math.sqrt(sum(component * component for component in value))
    if not abs(length - 1.0) < 1e-3:
        raise ValueError(f"'{attribute.name}' must be a unit quaternion (x, y, z, w): {value} has length {length:.4g}")


def whole_number(value: Any, where: str, *, error: type[ConfigError] | type[SimulationError] = ConfigError) -> int:
    """Return a count as an integer.

    Args:
        value: What the caller gave.
        where: Name of the argument, for the error.
        error: Class of the error.

    Raises:
        PippinError: It is negative, or not an integer; the class is `error`.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 0:
        raise error(f"{where}: expected a whole number of at least 0, got {value!r}")
    return int(value)


def principal_moments(instance: Any, attribute: Any, value: tuple[float, float, float] | None) -> None:
    """Reject principal moments of inertia that no body has: none is larger than the sum of the others. None passes.

    Args:
        instance: The configuration.
        attribute: The attribute.
        value: The moments [kg·m²].

    Raises:
        ValueError: They are none of a body.
    """
    from .inertias import moment_fault

    if value is not None and (fault := moment_fault(sorted(value))):
        raise ValueError(f"'{attribute.name}' {fault}")
