"""What sensor plugins share: sites on bodies, and named outputs shaped by world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from attrs.validators import deep_iterable

from . import labels
from .config.validators import finite, unit_quaternion

if TYPE_CHECKING:
    import newton
    import numpy as np
    import warp as wp

__all__ = ["Output", "SiteConfig", "add_sites", "per_world"]


@attrs.frozen(kw_only=True)
class SiteConfig:
    """Where a sensor sits: a frame fixed to every body that a pattern matches."""

    body: str
    """Full-match regular expression of body labels, or of their last segments."""

    position: tuple[float, float, float] = attrs.field(default=(0.0, 0.0, 0.0), validator=deep_iterable(finite))
    """Origin of the sensor's frame in the body's frame [m]."""

    rotation: tuple[float, float, float, float] = attrs.field(
        default=(0.0, 0.0, 0.0, 1.0), validator=[deep_iterable(finite), unit_quaternion]
    )
    """Orientation of the sensor's frame in the body's frame: unit quaternion (x, y, z, w)."""


@attrs.frozen(kw_only=True, eq=False)
class Output:
    """One quantity that a sensor measures."""

    data: wp.array
    """The latest values, first axis the worlds that have what is measured; overwritten by each step, in place."""

    unit: str
    """SI unit, such as `m/s²`."""

    frame: str
    """Frame in which components are given: `world`, or the sensor's own, `site`."""


def add_sites(builder: newton.ModelBuilder, config: SiteConfig) -> list[int]:
    """Add a site to every body that `config.body` matches, and return their shape indices.

    Raises:
        ConfigError: No body matches.
    """
    import warp as wp

    bodies = labels.match(config.body, builder.body_label, what="body", where="body")
    frame = wp.transform(config.position, config.rotation)
    return [builder.add_site(body, xform=frame, label=f"{builder.body_label[body]}/site") for body in bodies]


def per_world(values: wp.array, indices: np.ndarray) -> wp.array:
    """View an array with one entry per index as one row per world, without a copy.

    Args:
        values: Shape [worlds × n, …].
        indices: What the entries stand for, shape [worlds, n].

    Returns:
        Shape [worlds, n, …].
    """
    return values.reshape((*indices.shape, *values.shape[1:]))
