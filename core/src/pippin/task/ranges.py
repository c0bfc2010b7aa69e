"""Ranges in the tables of terms: of uniform random numbers, and with one or two ends."""

from __future__ import annotations

import math
from typing import Any

import attrs

__all__ = ["ZERO", "AxesRanges", "Range", "ends_of", "ordered", "ranged", "refuse_no_range"]

Range = tuple[float, float]
"""Lowest and highest value."""

ZERO: Range = (0.0, 0.0)


def ordered(instance: object, attribute: attrs.Attribute[Any], value: Range | None) -> None:
    """Reject a range whose lowest value is above its highest; None is permitted.

    Raises:
        ValueError: It is not ordered.
    """
    if value is not None and not value[0] <= value[1]:
        raise ValueError(f"'{attribute.name}' must be a range [low, high] with low <= high: {list(value)}")


def ranged(default: Range = ZERO) -> Any:
    """Return a field for a range."""
    return attrs.field(default=default, validator=ordered)


def refuse_no_range(low: float | None, high: float | None) -> None:
    """Reject a range that is empty, or has no end.

    Raises:
        ValueError: The ends make no range.
    """
    if low is None and high is None:
        raise ValueError("'low' and 'high' must make a range; give at least one of them")
    lowest, highest = ends_of(low, high)
    if not lowest < highest:
        raise ValueError(f"'low' and 'high' must make a range with low < high, got {low} and {high}")


def ends_of(low: float | None, high: float | None) -> tuple[float, float]:
    """Return the ends of a range, infinite if there is none."""
    return -math.inf if low is None else low, math.inf if high is None else high


@attrs.frozen(kw_only=True, slots=False)  # so that a configuration may derive from it and from another class
class AxesRanges:
    """Ranges along and about the axes of the world."""

    x: Range = ranged()
    """Range along x."""

    y: Range = ranged()
    """Range along y."""

    z: Range = ranged()
    """Range along z."""

    roll: Range = ranged()
    """Range about x."""

    pitch: Range = ranged()
    """Range about y."""

    yaw: Range = ranged()
    """Range about z."""

    @property
    def ends(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The lowest values along x, y, z and about x, y, z; and the highest ones."""
        ranges = [getattr(self, field.name) for field in attrs.fields(AxesRanges)]
        low, high = zip(*ranges, strict=True)
        return low, high
