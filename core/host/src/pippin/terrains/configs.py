"""Settings of the kinds of patches. A pair of numbers is what the easiest patch has, and what the hardest one has."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import deep_iterable, ge
from pippin.validators import non_negative, ordered, positive

from .patch import PatchConfig

Span = tuple[float, float]
"""Value at difficulty 0, and at difficulty 1."""


def at(span: Span, difficulty: float) -> float:
    """Return the value of a pair at a difficulty from 0 to 1."""
    return span[0] + difficulty * (span[1] - span[0])


def _span(low: float, high: float) -> Any:
    return attrs.field(default=(low, high), validator=deep_iterable(non_negative))


def _wide_span(low: float, high: float) -> Any:
    return attrs.field(default=(low, high), validator=deep_iterable(positive))


def _length(default: float) -> Any:
    return attrs.field(default=default, validator=positive)


class FlatConfig(PatchConfig):
    """Level ground."""

    implementation = ".patches:Flat"


@attrs.frozen(kw_only=True)
class StairsConfig(PatchConfig):
    """Stairs on four sides, up to a platform in the middle, on which worlds start."""

    implementation = ".patches:Stairs"

    step_height: tuple[float, float] = _span(0.05, 0.2)
    """Height of a step [m]."""

    step_width: float = _length(0.3)
    """Depth of a step, from edge to edge [m]."""

    platform: float = _length(3.0)
    """Least length of the platform's sides [m]."""

    border: float = attrs.field(default=0.5, validator=non_negative)
    """Width of the level ground at the edge of the patch [m]."""


class StairsDownConfig(StairsConfig):
    """Stairs on four sides, down to a platform in the middle, on which worlds start."""

    implementation = ".patches:StairsDown"


@attrs.frozen(kw_only=True)
class GapConfig(PatchConfig):
    """A ditch around a platform in the middle, on which worlds start."""

    implementation = ".patches:Gap"

    width: tuple[float, float] = _wide_span(0.1, 0.8)
    """Width of the ditch [m]."""

    depth: float = _length(1.0)
    """Depth of the ditch [m]."""

    platform: float = _length(2.0)
    """Length of the platform's sides [m]."""


@attrs.frozen(kw_only=True)
class BoxesConfig(PatchConfig):
    """Boxes that lie around, and none in the middle, where worlds start."""

    implementation = ".patches:Boxes"

    count: int = attrs.field(default=30, validator=ge(1))
    """Number of boxes."""

    height: tuple[float, float] = _wide_span(0.05, 0.2)
    """Height of the highest boxes [m]; the lowest have half of it."""

    width: tuple[float, float] = attrs.field(default=(0.3, 1.0), validator=[ordered, deep_iterable(positive)])
    """Range of the lengths of their sides [m]."""

    turned: bool = True
    """Whether they lie at any angle; by default they do, and otherwise along x and y."""

    platform: float = _length(1.5)
    """Diameter of the free place in the middle [m]."""


@attrs.frozen(kw_only=True)
class SteppingStonesConfig(PatchConfig):
    """Stones in rows with gaps between them, and a platform in the middle, on which worlds start.

    The number of stones along a side is rounded, so that their distance is a little more or less than stated.
    """

    implementation = ".patches:SteppingStones"

    stone: tuple[float, float] = _wide_span(0.8, 0.4)
    """Length of the sides of a stone [m]."""

    distance: tuple[float, float] = _span(0.05, 0.3)
    """Distance of neighbouring stones [m]."""

    rise: tuple[float, float] = _span(0.0, 0.05)
    """Most that the top of a stone is above or below the platform [m]."""

    depth: float = _length(1.0)
    """Depth of the ground between the stones [m]."""

    platform: float = _length(2.0)
    """Length of the platform's sides [m]."""


@attrs.frozen(kw_only=True)
class _FieldConfig(PatchConfig):
    resolution: float = _length(0.1)
    """Largest distance of the points that have a height [m]."""


@attrs.frozen(kw_only=True)
class SlopeConfig(_FieldConfig):
    """Slopes on four sides, up to a platform in the middle, on which worlds start."""

    implementation = ".patches:Slope"

    gradient: tuple[float, float] = _span(0.0, 0.4)
    """Rise for each metre."""

    platform: float = _length(2.0)
    """Length of the platform's sides [m]."""

    border: float = attrs.field(default=0.25, validator=non_negative)
    """Width of the level ground at the edge of the patch [m]."""


class SlopeDownConfig(SlopeConfig):
    """Slopes on four sides, down to a platform in the middle, on which worlds start."""

    implementation = ".patches:SlopeDown"


@attrs.frozen(kw_only=True)
class RoughConfig(_FieldConfig):
    """Ground of random heights, from zero to `height`, between which it is straight."""

    implementation = ".patches:Rough"

    height: tuple[float, float] = _span(0.02, 0.1)
    """Greatest height [m]."""

    step: float = _length(0.005)
    """Heights are whole multiples of this [m]."""

    spacing: float = _length(0.2)
    """Largest distance of neighbouring random heights [m]."""


@attrs.frozen(kw_only=True)
class WavesConfig(_FieldConfig):
    """Waves along x and y, each with half of the amplitude: amplitude / 2 (sin kx x + sin ky y)."""

    implementation = ".patches:Waves"

    amplitude: tuple[float, float] = _span(0.0, 0.2)
    """Greatest height above and below zero [m]."""

    count: int = attrs.field(default=4, validator=ge(1))
    """Number of waves from edge to edge, along x and along y."""
