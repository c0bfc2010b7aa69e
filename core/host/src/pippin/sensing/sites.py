"""Sites of sensors: frames on bodies, and arrays with one row per world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import newton
import numpy as np
import warp as wp
from pippin import labels
from pippin.errors import ConfigError

_NAMESPACE, _FOV, _FRAME = "pippin", "vertical_fov", "is_frame"

IS_FRAME = f"{_NAMESPACE}:{_FRAME}"
"""Attribute of shapes: whether it is the site of a link that was merged into another one."""


class SensorFrame(Protocol):
    """A frame on each body, or at each of the asset's own sites, that a pattern matches."""

    @property
    def body(self) -> str | Sequence[str] | None:
        """Patterns of bodies."""

    @property
    def site(self) -> str | Sequence[str] | None:
        """Patterns of the asset's own sites, if there are none of bodies."""

    @property
    def position(self) -> tuple[float, float, float]:
        """Origin of the frame in that of the body or the site [m]."""
        ...

    @property
    def rotation(self) -> tuple[float, float, float, float]:
        """Orientation of the frame in that of the body or the site: unit quaternion (x, y, z, w)."""
        ...


class _Added(str):
    """Label of a site that a sensor has added; patterns of the asset's sites do not match it."""

    __slots__ = ()


def add_sites(builder: newton.ModelBuilder, config: SensorFrame, where: str = "", name: str = "site") -> list[int]:
    """Add a site to every body that `config.body` matches, and return their shape indices.

    With `config.site`, sites are added at those of the asset; one that needs no shift is taken itself.

    Args:
        builder: One world.
        config: The bodies or sites, and the place on them.
        where: Key path of the configuration that precedes `body`, for errors, such as `reference.`.
        name: Name of the sites; the label of the body or of the asset's site precedes it.

    Raises:
        ConfigError: No body or site matches, or a site is fixed to the world.
    """
    frame = wp.transform(config.position, config.rotation)
    if config.site is None:
        frames = frames_of(builder)
        texts = [*builder.body_label, *(builder.shape_label[site] for site in frames)]
        matched = labels.match(config.body or (), texts, what="body", where=f"{where}body")
        return [
            add_site(builder, index, frame, f"{texts[index]}/{name}")
            if index < builder.body_count
            else _at(builder, frames[index - builder.body_count], frame, name)
            for index in matched
        ]
    own = _own_sites(builder)
    texts = [builder.shape_label[shape] for shape in own]
    found = [own[index] for index in labels.match(config.site, texts, what="site", where=f"{where}site")]
    fixed = [builder.shape_label[shape] for shape in found if builder.shape_body[shape] < 0]
    if fixed:
        raise ConfigError(f"{where}site: {fixed[0]!r} belongs to the world and to no body; choose sites of bodies")
    return [_at(builder, shape, frame, name) for shape in found]


def add_site(builder: newton.ModelBuilder, body: int, frame: wp.transform, label: str) -> int:
    """Add a sensor's site to a body, or to the world for -1, and return its shape index.

    Args:
        builder: One world.
        body: Index of the body.
        frame: Pose of the site in the body's frame.
        label: Label of the site.
    """
    return builder.add_site(body, xform=frame, label=_Added(label))


def declare_cameras(builder: newton.ModelBuilder) -> None:
    """Prepare a builder for the cameras of an asset: sites with an angle of view."""
    _declare(builder, _FOV)


def declare_frames(builder: newton.ModelBuilder) -> None:
    """Prepare a builder for the sites of links that are merged into others."""
    _declare(builder, _FRAME)


def _declare(builder: newton.ModelBuilder, name: str) -> None:
    builder.add_custom_attribute(
        newton.ModelBuilder.CustomAttribute(
            name=name, namespace=_NAMESPACE, dtype=float, default=0.0, frequency=newton.Model.AttributeFrequency.SHAPE
        )
    )


def mark_frame(builder: newton.ModelBuilder, body: int, label: str) -> None:
    """Add the site of a link that is to be merged into another one; patterns of bodies match it for sensors."""
    values: Any = builder.custom_attributes[IS_FRAME].values
    values[add_site(builder, body, wp.transform(), label)] = 1.0


def frames_of(builder: newton.ModelBuilder) -> list[int]:
    """Return the shape indices of the sites of merged links."""
    attribute = builder.custom_attributes.get(IS_FRAME)
    values: Any = {} if attribute is None else attribute.values
    return sorted(values)


def mark_camera(builder: newton.ModelBuilder, site: int, fov: float) -> None:
    """Note that a site is a camera of the asset, with the angle between the upper and lower edge of its image [rad]."""
    values: Any = builder.custom_attributes[f"{_NAMESPACE}:{_FOV}"].values
    values[site] = fov


def cameras_of(builder: newton.ModelBuilder) -> dict[int, float]:
    """Return the angle of view [rad] of each camera of the assets, by the shape index of its site."""
    attribute = builder.custom_attributes.get(f"{_NAMESPACE}:{_FOV}")
    values: Any = {} if attribute is None else attribute.values
    return {site: fov for site, fov in values.items() if fov}


def _own_sites(builder: newton.ModelBuilder) -> list[int]:
    """Return the shape indices of the sites that the assets themselves have, cameras aside."""
    cameras = cameras_of(builder)
    return [
        shape
        for shape, (label, flags) in enumerate(zip(builder.shape_label, builder.shape_flags, strict=True))
        if flags & int(newton.ShapeFlags.SITE) and not isinstance(label, _Added) and shape not in cameras
    ]


def _at(builder: newton.ModelBuilder, site: int, frame: wp.transform, name: str) -> int:
    if frame == wp.transform_identity():
        return site
    label = f"{builder.shape_label[site]}/{name}"
    return add_site(builder, builder.shape_body[site], builder.shape_transform[site] * frame, label)


def per_world(values: wp.array, indices: np.ndarray) -> wp.array:
    """View an array with one entry per index as one row per world, without a copy.

    Args:
        values: Shape [worlds × n, …].
        indices: Index of the element of each entry, shape [worlds, n].

    Returns:
        Shape [worlds, n, …].
    """
    return values.reshape((*indices.shape, *values.shape[1:]))
