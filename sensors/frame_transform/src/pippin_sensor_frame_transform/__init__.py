"""Poses of bodies in a frame of reference, as a Pippin sensor."""

from __future__ import annotations

import attrs
from attrs.validators import deep_iterable
from pippin import sensing
from pippin.validators import finite, unit_quaternion

__all__ = ["FrameTransformConfig", "ReferenceConfig"]


@attrs.frozen(kw_only=True)
class ReferenceConfig:
    """A frame fixed to one body of each world, or at one site of the asset."""

    body: str | None = attrs.field(default=None, validator=sensing.body_or_site)
    """Full-match regular expression of a body name, or of its whole label if it contains a `/`; it matches one body."""

    site: str | None = None
    """The same of the name of one of the asset's own sites, in place of `body`."""

    position: tuple[float, float, float] = attrs.field(default=(0.0, 0.0, 0.0), validator=deep_iterable(finite))
    """Origin of the frame in the body's frame [m]."""

    rotation: tuple[float, float, float, float] = attrs.field(
        default=(0.0, 0.0, 0.0, 1.0), validator=[deep_iterable(finite), unit_quaternion]
    )
    """Orientation of the frame in the body's frame: unit quaternion (x, y, z, w)."""


@attrs.frozen(kw_only=True)
class FrameTransformConfig(sensing.SiteConfig):
    """Poses of sites on bodies, in the frame of another body or of the world."""

    implementation = ".sensor:SensorFrameTransform"

    reference: ReferenceConfig | None = None
    """The frame in which poses are given; by default the world's."""
