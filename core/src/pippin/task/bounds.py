"""Bounds of a range with one or two ends."""

from __future__ import annotations

import math

__all__ = ["ends_of", "refuse_no_range"]


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
