"""Sites of sensors: frames on bodies, and arrays with one row per world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pippin import labels

from .config import SiteConfig

if TYPE_CHECKING:
    import newton
    import numpy as np
    import warp as wp

__all__ = ["add_sites", "per_world"]


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
        indices: Index of the element of each entry, shape [worlds, n].

    Returns:
        Shape [worlds, n, …].
    """
    return values.reshape((*indices.shape, *values.shape[1:]))
