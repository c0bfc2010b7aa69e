"""Settings of the object `rod`: a cable or a rod of short segments."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import deep_iterable, ge, gt, le, min_len, optional
from pippin.config.geometry import Vector3
from pippin.config.paths import FilePath
from pippin.config.selections import PinConfig
from pippin.validators import finite, fraction, non_negative, only_where, positive

from .config import ObjectConfig

_straight = only_where(lambda rod: not rod.points, "a rod without 'points'")
_chain = only_where(lambda rod: not rod.edges, "a rod without 'edges'")


def _with_points(instance: Any, attribute: Any, value: tuple[tuple[int, int], ...] | str) -> None:
    if value and not instance.points:
        raise ValueError(f"'{attribute.name}' needs 'points', which it joins; add them")


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

    edges: tuple[tuple[int, int], ...] | FilePath = attrs.field(default=(), validator=_with_points)
    """Points that each segment joins, counted from 0, for a net or a tree of rods; or a file `.csv` or `.npy` with such
    rows. By default each segment joins a point to the next one."""

    closed: bool = attrs.field(default=False, validator=_chain)
    """Whether the rod is a ring: its last point lies on the first one, and is joined to it."""

    rest_points: tuple[Vector3, ...] | FilePath = ()
    """Points of the rod at rest [m], as `points`; by default it is at rest at the start."""

    rest_straight: bool = attrs.field(
        default=False, validator=[_chain, only_where(lambda rod: not rod.rest_points, "a rod without 'rest_points'")]
    )
    """Whether the rod is straight and without twist at rest, with segments as long as at the start."""

    twist_total: float = attrs.field(default=0.0, validator=[finite, _chain])
    """Angle by which the rod is twisted at the start, in equal parts for all segments [rad]; at rest it has none."""

    pin: tuple[PinConfig, ...] = ()
    """Segments that no force moves: `{ part = "first" }`, `{ part = "last" }` and others."""

    filtered_neighbours: int = attrs.field(default=1, validator=[ge(1), _chain])
    """Number of following segments with which each segment does not collide."""

    material: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of a material of `[scene.materials]`."""

    youngs_modulus: float | None = attrs.field(default=None, validator=optional(positive))
    """Young's modulus of the material [Pa], which gives the stiffnesses that are not stated; with `poissons_ratio`."""

    poissons_ratio: float | None = attrs.field(default=None, validator=optional([gt(-1.0), le(0.5)]))
    """Poisson's ratio of the material."""

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

    dahl_eps_max: float | None = attrs.field(default=None, validator=optional(positive))
    """Largest strain by inner friction of each joint, after Dahl [rad]; with `dahl_tau`."""

    dahl_tau: float | None = attrs.field(default=None, validator=optional(positive))
    """Angle over which this friction builds up [rad]."""

    def __attrs_post_init__(self) -> None:
        for one, other in (("youngs_modulus", "poissons_ratio"), ("dahl_eps_max", "dahl_tau")):
            if (getattr(self, one) is None) != (getattr(self, other) is None):
                raise ValueError(f"'{one}' and '{other}' belong together; state both, or leave both out")
        if not self.points and (self.end is None or self.segments is None):
            raise ValueError("'points', or 'end' and 'segments', must say where the rod lies")
