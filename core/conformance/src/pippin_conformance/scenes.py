"""Small scenes for the checks, each a function that adds one world's content to a builder."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Iterable
from typing import Any

import newton
import numpy as np
import warp as wp

GRAVITY = 9.81
"""Default gravity of a configuration [m/s²]."""

BALL_MASS = 2.0
"""Mass of the ball [kg]."""

START = 0.05
"""Initial angle of the pendulum [rad]."""

GRAIN_RADIUS = 0.025
"""Radius of a grain [m]."""

SHIFTER_HEIGHTS = (0.2, 0.1)
"""Heights at which the centre of `add_shifter` rests, by its variant [m]."""

PIVOT = "pivot"
"""Label of the pendulum's hinge."""

_RADIUS, _MASS, _INERTIA, _LENGTH = 0.1, 1.0, 0.02, 0.5
"""Radius of the ball [m]; mass and inertia of a link [kg, kg·m²]; distance of its centre of mass from the hinge [m]."""

SWING_RATE = math.sqrt(_MASS * GRAVITY * _LENGTH / (_INERTIA + _MASS * _LENGTH**2))
"""Angular frequency of small swings of the pendulum [rad/s]: √(m g l / (I + m l²))."""

QUARTER_SWING = math.pi / 2 / SWING_RATE
"""Time from the initial angle to the lowest point [s]."""


def suited_to(features: Collection[str] | None) -> Callable[[newton.ModelBuilder], None]:
    """Return the scene for a solver that declares some features; None stands for all features."""
    if features is None:
        return links
    if "rigid_bodies" not in features:
        return grains
    return functools.partial(links if "revolute_joints" in features else ball, is_solid="rigid_contacts" in features)


def links(builder: newton.ModelBuilder, is_solid: bool = True) -> None:
    """Add two links `link_0`, `link_1` that hang from hinges `hinge_0`, `hinge_1`, and a `ball` on the ground."""
    add_chain(builder, (0.3, -0.2), pivot=(1.0, 0.0, 2.0), label="links")
    ball(builder, is_solid)


def add_chain(
    builder: newton.ModelBuilder,
    angles: Iterable[float],
    *,
    pivot: tuple[float, float, float] = (0.0, 0.0, 0.0),
    length: float = _LENGTH,
    armature: float = 0.0,
    label: str = "chain",
) -> None:
    """Add links `link_0`, ... that hang one below the other from hinges `hinge_0`, ... about y.

    Args:
        builder: Gets the chain.
        angles: Initial angle of each hinge [rad]; there are as many links.
        pivot: Position of the first hinge [m].
        length: Distance of a hinge from the one above it, and of a link's centre of mass from its hinge [m].
        armature: Of each hinge [kg·m²].
        label: Of the articulation.
    """
    above, joints = -1, []
    for index, angle in enumerate(angles):
        body = builder.add_link(label=f"link_{index}", mass=_MASS, inertia=equal_moments(_INERTIA))
        builder.body_com[body] = wp.vec3(0.0, 0.0, -length)
        frame = wp.transform(wp.vec3(*pivot) if above < 0 else wp.vec3(0.0, 0.0, -length), wp.quat_identity())
        hinge = builder.add_joint_revolute(
            above, body, parent_xform=frame, axis=(0.0, 1.0, 0.0), label=f"hinge_{index}", armature=armature
        )
        builder.joint_q[-1] = angle
        joints.append(hinge)
        above = body
    builder.add_articulation(joints, label=label)


def ball(builder: newton.ModelBuilder, is_solid: bool = True) -> None:
    """Add a `ball` that lies on the ground, free to roll; a ball that is not solid falls through the ground."""
    add_ball(builder, 0.999 * _RADIUS, is_solid)


def falling(builder: newton.ModelBuilder, is_solid: bool = True) -> None:
    """Add a `ball` that falls and touches nothing, and beside it a pendulum, the body `bob`."""
    add_ball(builder, 5.0, is_solid)
    add_chain(builder, [START], pivot=(2.0, 0.0, 5.0), label="pendulum")
    builder.body_label[-1], builder.joint_label[-1] = "bob", PIVOT


def add_ball(
    builder: newton.ModelBuilder,
    height: float,
    is_solid: bool = True,
    *,
    mass: float = BALL_MASS,
    radius: float = _RADIUS,
) -> None:
    """Add a sphere of a mass [kg] and a radius [m] that is free to move, its centre at a height [m]."""
    inertia = equal_moments(0.4 * mass * radius**2)
    pose = wp.transform(wp.vec3(0.0, 0.0, height), wp.quat_identity())
    body = builder.add_link(label="ball", mass=mass, inertia=inertia, xform=pose)
    if is_solid:
        builder.add_shape_sphere(body, radius=radius, cfg=newton.ModelBuilder.ShapeConfig(density=0.0), label="skin")
    builder.add_articulation([builder.add_joint_free(body, label="free")], label="ball")


def equal_moments(value: float) -> Any:
    """Return an inertia with the same moment about every axis [kg·m²]."""
    return wp.mat33(value, 0.0, 0.0, 0.0, value, 0.0, 0.0, 0.0, value)


def add_block(builder: newton.ModelBuilder, half: float) -> None:
    """Add a hull of a flat block of 1 kg and a half height [m], which stands on the ground and is free to move."""
    pose = wp.transform(wp.vec3(0.0, 0.0, half), wp.quat_identity())
    body = builder.add_link(label="block", mass=1.0, inertia=equal_moments(0.01), xform=pose)
    mesh = newton.Mesh.create_box(0.3, 0.3, half)
    builder.add_shape_convex_hull(body, mesh=mesh, cfg=newton.ModelBuilder.ShapeConfig(density=0.0), label="hull")
    builder.add_articulation([builder.add_joint_free(body, label="free")], label="block")


def add_shifter(builder: newton.ModelBuilder) -> None:
    """Add a body above the ground that is a ball of 0.2 m of radius and 1 kg, or a box half as high and as heavy."""
    pose = wp.transform(wp.vec3(0.0, 0.0, SHIFTER_HEIGHTS[0]), wp.quat_identity())
    body = builder.add_link(label="shifter", mass=0.0, xform=pose)
    variants = []
    for mass in (1.0, 0.5):
        variant = newton.ModelBuilder(up_axis=builder.up_axis)
        variant.default_shape_cfg = builder.default_shape_cfg.copy()
        variant.default_shape_cfg.density = 0.0
        only = variant.add_link(mass=mass, inertia=equal_moments(0.02 * mass))
        if mass == 1.0:
            variant.add_shape_sphere(only, radius=SHIFTER_HEIGHTS[0])
        else:
            variant.add_shape_box(only, hx=0.2, hy=0.2, hz=SHIFTER_HEIGHTS[1])
        variants.append(variant)
    builder.add_body_variants(body, variants)
    builder.add_articulation([builder.add_joint_free(body, label="free")], label="shifter")


def grains(builder: newton.ModelBuilder) -> None:
    """Add a block of 27 grains above the ground, moving along x."""
    for x, y, z in np.ndindex(3, 3, 3):
        place = wp.vec3(0.05 * x, 0.05 * y, 0.5 + 0.05 * z)
        builder.add_particle(place, wp.vec3(0.3, 0.0, 0.0), 0.1, radius=GRAIN_RADIUS)
