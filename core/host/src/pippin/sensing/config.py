"""The settings that every sensor has in common."""

from __future__ import annotations

from typing import Annotated, Any

import attrs
from attrs.validators import deep_iterable, min_len, optional
from pippin.config import ComponentConfig
from pippin.validators import finite, positive, unit_quaternion


def body_or_site(instance: Any, attribute: Any, value: Any) -> None:
    """Reject both and neither of `body` and `site`.

    Raises:
        ValueError: Both are given, or neither.
    """
    if (instance.body is None) == (instance.site is None):
        raise ValueError(f"exactly one of body, site must be given: {'none' if instance.body is None else 'both'}")


@attrs.frozen(kw_only=True)
class SensorConfig:
    """Settings of every sensor; each plugin adds its own."""

    period: float | None = attrs.field(default=None, validator=optional(positive))
    """Time from one reading to the next [s], a whole number of control steps; by default one control step."""

    stages: tuple[Annotated[ComponentConfig, "stage"], ...] = ()
    """Changes to the clean values before they are read, in this order: noise, bias, drift, quantisation, latency."""


@attrs.frozen(kw_only=True, slots=False)
class FrameConfig:
    """A frame fixed to each body, or at each site of the asset, that a pattern matches."""

    body: str | tuple[str, ...] | None = attrs.field(default=None, validator=[optional(min_len(1)), body_or_site])
    """One or several full-match regular expressions of body names, or of whole labels if they contain a `/`."""

    site: str | tuple[str, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """The same of the names of the asset's own sites, in place of `body`; the frame of the site then takes the place
    of the body's."""

    position: tuple[float, float, float] = attrs.field(default=(0.0, 0.0, 0.0), validator=deep_iterable(finite))
    """Origin of the frame in the body's frame [m]."""

    rotation: tuple[float, float, float, float] = attrs.field(
        default=(0.0, 0.0, 0.0, 1.0), validator=[deep_iterable(finite), unit_quaternion]
    )
    """Orientation of the frame in the body's frame: unit quaternion (x, y, z, w)."""


@attrs.frozen(kw_only=True)
class SiteConfig(FrameConfig, SensorConfig):
    """A sensor in a frame of its own, fixed to each body, or at each site of the asset, that a pattern matches."""


@attrs.frozen(kw_only=True)
class StageConfig:
    """Settings of every stage."""

    output: str
    """Name of the output that the stage changes."""
