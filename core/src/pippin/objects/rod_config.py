"""Settings of the object `rod`: a cable or a rod of short segments."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import deep_iterable, ge, min_len, optional
from pippin.config.geometry import Vector3
from pippin.config.paths import FilePath
from pippin.validators import finite, fraction, non_negative, only_where, positive

from .config import ObjectConfig

_straight = only_where(lambda rod: not rod.points, "a rod without 'points'")


def _number() -> Any:
    """Return a field for a finite number >= 0; None leaves Newton's default."""
    return attrs.field(default=None, validator=optional(non_negative))


@attrs.frozen(kw_only=True)
class RodConfig(ObjectConfig):
    """A cable or a rod of short segments: capsules between points, with stiff joints. Solver `vbd` moves it."""

    implementation = ".rod:Rod"

    points: tuple[Vector3, ...] | FilePath = ()
    """Ends of the segments in the frame of the object [m]; or a file `.csv` or `.npy` with such rows."""

    end: Vector3 | None = attrs.field(default=None, validator=[optional(deep_iterable(finite)), _straight])
    """End of a straight rod that begins at the origin of the object [m], in place of points."""

    segments: int | None = attrs.field(default=None, validator=[optional(ge(1)), _straight])
    """Number of segments of a straight rod."""

    radius: float = attrs.field(validator=positive)
    """Radius [m]."""

    closed: bool = False
    """Whether the last point is joined to the first."""

    material: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of a material of `[scene.materials]`."""

    color: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(fraction)))
    """Colour: red, green and blue from 0 to 1; by default one of eight that take turns."""

    stretch_stiffness: float | None = _number()
    """Stiffness of each joint along the rod [N/m] (100000)."""

    shear_stiffness: float | None = _number()
    """Stiffness of each joint across the rod [N/m]; by default as against stretching."""

    bend_stiffness: float | None = _number()
    """Stiffness of each joint against bending [N·m/rad] (0)."""

    twist_stiffness: float | None = _number()
    """Stiffness of each joint against twisting [N·m/rad]; by default as against bending."""

    stretch_damping: float | None = _number()
    """Damping of stretching [N·s/m] (0)."""

    shear_damping: float | None = _number()
    """Damping of shearing [N·s/m] (0)."""

    bend_damping: float | None = _number()
    """Damping of bending [N·m·s/rad] (0)."""

    twist_damping: float | None = _number()
    """Damping of twisting [N·m·s/rad] (0)."""

    def __attrs_post_init__(self) -> None:
        if not self.points and (self.end is None or self.segments is None):
            raise ValueError("'points', or 'end' and 'segments', must say where the rod lies")
