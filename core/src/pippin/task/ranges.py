"""Ranges of uniform random numbers in the tables of events and commands."""

from __future__ import annotations

from typing import Any

import attrs

__all__ = ["ZERO", "AxesRanges", "Range", "ordered", "ranged"]

Range = tuple[float, float]
"""Lowest and highest value."""

ZERO: Range = (0.0, 0.0)


def ordered(instance: object, attribute: attrs.Attribute[Any], value: Range | None) -> None:
    """Reject a range whose lowest value is above its highest; None is none.

    Raises:
        ValueError: It is not ordered.
    """
    if value is not None and not value[0] <= value[1]:
        raise ValueError(f"'{attribute.name}' must be a range [low, high] with low <= high: {list(value)}")


def ranged(default: Range = ZERO) -> Any:
    """Return a field for a range."""
    return attrs.field(default=default, validator=ordered)


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
