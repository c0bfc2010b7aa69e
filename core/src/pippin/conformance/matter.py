"""Particles that move in one way with a feature of a scene, and in another way without it.

Each function returns one that adds such particles to a builder, as `mechanisms` does. The last particle is measured.
"""

from __future__ import annotations

from typing import Any

import newton
import warp as wp

from .mechanisms import MASS, NOWHERE, Add, Vector

RADIUS = 0.1
"""Radius of a particle that touches something [m]."""


def particle(builder: newton.ModelBuilder, place: Vector, speed: Vector = NOWHERE, mass: float = MASS, **options: Any):
    """Add a particle at a place [m] with a velocity [m/s], and return it; one without a mass stays."""
    return builder.add_particle(wp.vec3(*place), wp.vec3(*speed), mass, **options)


def on_block(*, gap: float = 0.0, speed: tuple[float, float] = (0.0, 0.0), **surface: Any) -> Add:
    """Return a function that adds a particle above a block of its own.

    Args:
        gap: Distance between them [m].
        speed: Velocity along x and z [m/s].
        surface: Properties of the block, as a shape's configuration has them.
    """

    def add(builder: newton.ModelBuilder, label: str, y: float) -> None:
        cfg = newton.ModelBuilder.ShapeConfig(density=0.0, **surface)
        block: Any = wp.transform(wp.vec3(0.0, y, 0.4), wp.quat_identity())
        builder.add_shape_box(-1, xform=block, hx=0.4, hy=0.2, hz=0.1, cfg=cfg)
        particle(builder, (0.0, y, 0.5 + RADIUS + gap), (speed[0], 0.0, speed[1]), radius=RADIUS)

    return add


def met_particle(speed: Vector) -> Add:
    """Return a function that adds a particle which stays, and one in touch with it, ahead along x, with a velocity."""

    def add(builder: newton.ModelBuilder, label: str, y: float) -> None:
        particle(builder, (0.0, y, 1.0), mass=0.0, radius=RADIUS)
        particle(builder, (2.0 * RADIUS, y, 1.0), speed, radius=RADIUS)

    return add
