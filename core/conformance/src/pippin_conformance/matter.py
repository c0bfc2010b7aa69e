"""Particles that move in one way with a feature of a scene, and in another way without it.

Each function returns one that adds such particles to a builder, as `mechanisms` does. The last particle is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp

from .mechanisms import MASS, NOWHERE, Vector, X, Y, Z, free, hung, mechanism, slider
from .scenes import equal_moments

RADIUS, _SMALL, _THIN = 0.1, 0.02, 0.001
"""Radii of a particle that touches something, of a small one, and of one that does not [m]."""

_CORNERS: Mapping[str, Sequence[Vector]] = {
    "triangle": ((0.0, -0.2, 0.0), (0.0, 0.2, 0.0), (-0.2, 0.0, 0.0)),
    "hinge": ((0.0, 0.0, -0.5), (0.0, 0.0, 0.5), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)),
    "tetrahedron": ((0.0, -0.2, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.2), (0.2, 0.0, 0.1)),
}
"""Corners of elements [m]; the last one is free."""

_FACES: Mapping[str, Sequence[int]] = {"triangle": (0, 1, 2), "hinge": (2, 1, 0, 3, 0, 1), "tetrahedron": ()}


def particle(
    builder: newton.ModelBuilder, place: Vector, speed: Vector = NOWHERE, mass: float = MASS, **options: Any
) -> int:
    """Add a particle at a place [m] with a velocity [m/s], and return it; one without a mass stays."""
    return builder.add_particle(wp.vec3(*place), wp.vec3(*speed), mass, **options)


@mechanism
def thrown_particles(builder: newton.ModelBuilder, label: str, y: float, speed: float) -> None:
    """Add four particles with an upward velocity [m/s]: a grid has a volume around them."""
    for place in ((0.01, y, 1.0), (0.0, y + 0.01, 1.0), (0.0, y, 1.01), (0.0, y, 1.0)):
        particle(builder, place, (0.0, 0.0, speed), radius=_THIN)


@mechanism
def on_block(
    builder: newton.ModelBuilder,
    label: str,
    y: float,
    *,
    gap: float = 0.0,
    speed: tuple[float, float] = (0.0, 0.0),
    **surface: Any,
) -> None:
    """Add a particle above a block with some properties of a surface.

    The particle is at a distance [m], and has a velocity along x and z [m/s].
    """
    cfg = newton.ModelBuilder.ShapeConfig(density=0.0, **surface)
    block: Any = wp.transform(wp.vec3(0.0, y, 0.4), wp.quat_identity())
    builder.add_shape_box(-1, xform=block, hx=0.4, hy=0.2, hz=0.1, cfg=cfg)
    particle(builder, (0.0, y, 0.5 + RADIUS + gap), (speed[0], 0.0, speed[1]), radius=RADIUS)


@mechanism
def met_particle(builder: newton.ModelBuilder, label: str, y: float, speed: Vector, gap: float = 0.0) -> None:
    """Add a particle which stays, and another ahead along x, at a distance [m] and with a
    velocity [m/s].
    """
    particle(builder, (-gap, y, 1.0), mass=0.0, radius=RADIUS)
    particle(builder, (2.0 * RADIUS, y, 1.0), speed, radius=RADIUS)


@mechanism
def met_wall(builder: newton.ModelBuilder, label: str, y: float, gap: float) -> None:
    """Add a wall of particles that stay, two layers of nine, and one that flies to it at 1 m/s from a distance [m]."""
    for across, height in np.ndindex(3, 3):
        for x in (-RADIUS - gap, -gap):
            place = (x, y + (across - 1) * RADIUS, 1.0 + (height - 1) * RADIUS)
            particle(builder, place, mass=0.0, radius=RADIUS)
    particle(builder, (2.0 * RADIUS, y, 1.0), (-1.0, 0.0, 0.0), radius=RADIUS)


@mechanism
def over_face(builder: newton.ModelBuilder, label: str, y: float, gap: float) -> None:
    """Add a large level triangle that stays, and a small one above it, at a distance [m]."""
    shape = np.array(((-0.4, -0.3, 0.0), (0.4, -0.3, 0.0), (0.0, 0.4, 0.0)))
    for scale, height in ((1.0, 1.0 - gap), (0.1, 1.0)):  # the small one falls with 0.3 m/s
        corners, first = scale * shape, builder.particle_count
        places: Any = [wp.vec3(*place) for place in corners + np.array((0.0, y, height))]
        if "style3d:tri_aniso_ke" in builder.custom_attributes:
            add_panels(builder, places, corners, (0, 1, 2), tri_ke=1000.0)
        else:
            for place in places:
                particle(builder, place, radius=_SMALL)
            builder.add_triangle(*range(first, first + 3), tri_ke=1000.0, tri_ka=1000.0, tri_kd=0.0)
        builder.particle_mass[first:] = [0.1] * 3
        if scale == 1.0:
            builder.particle_mass[first:] = [0.0] * 3
            for held in range(first, first + 3):
                builder.particle_flags[held] &= ~int(newton.ParticleFlags.ACTIVE)
        else:
            builder.particle_qd[first:] = [wp.vec3(0.0, 0.0, -0.3)] * 3


@mechanism
def pulled(builder: newton.ModelBuilder, label: str, y: float, activation: float) -> None:
    """Add two bodies on level sliders, 0.4 m apart, and a muscle with an activation [N]
    between.
    """
    for x in (-0.2, 0.2):
        slider(X)(builder, label, y)
        builder.joint_X_p[-1] = builder.body_q[-1] = wp.transform(wp.vec3(x, y, 1.0), wp.quat_identity())
    ends: Any = [wp.vec3(), wp.vec3()]
    builder.add_muscle(
        [builder.body_count - 2, builder.body_count - 1], ends, f0=1.0, lm=0.4, lt=0.1, lmax=1.0, pen=0.0
    )
    builder.muscle_activations[-1] = activation


@mechanism
def hanging_body(builder: newton.ModelBuilder, label: str, y: float, stiffness: float | None = None) -> None:
    """Add a body that hangs from a particle which stays, by an attachment [N/m] or none."""
    body = free(builder, label, y)
    held = particle(builder, (0.0, y, 1.0), mass=0.0)
    if stiffness is not None:
        builder.add_attachment_particle_body(held, body, stiffness=stiffness)


@mechanism
def hanging_particle(builder: newton.ModelBuilder, label: str, y: float, stiffness: float | None = None) -> None:
    """Add a particle that hangs from a body which is fixed, by an attachment [N/m] or none."""
    hung("fixed")(builder, label, y)
    held = particle(builder, (0.0, y, 1.0))
    if stiffness is not None:
        builder.add_attachment_particle_body(held, builder.body_count - 1, stiffness=stiffness)


@mechanism
def on_spring(builder: newton.ModelBuilder, label: str, y: float, offset: float, **options: Any) -> None:
    """Add a particle on a level spring (`ke` [N/m], `kd` [N·s/m]), away from its rest [m]."""
    ends = [particle(builder, (x, y, 1.0), mass=mass, radius=_THIN) for x, mass in ((-1.0, 0.0), (0.0, MASS))]
    builder.add_spring(*ends, control=0.0, **options)
    builder.particle_q[-1] = wp.vec3(offset, y, 1.0)


@mechanism
def deformed(
    builder: newton.ModelBuilder,
    label: str,
    y: float,
    kind: str,
    shift: Vector,
    activation: float = 0.0,
    **options: Any,
) -> None:
    """Add an elastic element of which the last corner is free, and away from its place by a shift [m].

    It is a `triangle`, a `tetrahedron`, or a `hinge`: two upright triangles of 1 m with a common edge of 1 m. The free
    corner of the others is 0.2 m away along x. The activation is a strain of a tetrahedron. Options are stiffnesses, as
    the builder's method has them.
    """
    corners = np.array(_CORNERS[kind])
    places: Any = [wp.vec3(*place) for place in corners + np.array((0.0, y, 1.0))]
    first, faces = builder.particle_count, _FACES[kind]
    if faces and "style3d:tri_aniso_ke" in builder.custom_attributes:
        add_panels(builder, places, corners, faces, **options)
    else:
        for place in places:
            particle(builder, place, mass=0.0, radius=_THIN)
        if kind == "tetrahedron":
            builder.add_tetrahedron(first, first + 1, first + 2, first + 3, **options)
        elif kind == "triangle":
            builder.add_triangle(*range(first, first + 3), tri_kd=options.pop("tri_kd", 0.0), **options)
        else:
            builder.add_edge(first + 2, first + 3, first, first + 1, edge_kd=options.pop("edge_kd", 0.0), **options)
    builder.particle_mass[first:] = [0.0] * (len(places) - 1) + [MASS]
    for held in range(first, builder.particle_count - 1):
        builder.particle_flags[held] &= ~int(newton.ParticleFlags.ACTIVE)
    builder.particle_q[-1] = places[-1] + wp.vec3(*shift)
    if activation:
        builder.tet_activations[-1] = activation


@mechanism
def flying(builder: newton.ModelBuilder, label: str, y: float, **options: Any) -> None:
    """Add an upright triangle of 0.02 m² that flies along its normal, x, with 1 m/s.

    Its drag and its lift are options of the builder.
    """
    first = builder.particle_count
    for across, height in ((-0.1, 0.9), (0.1, 0.9), (0.0, 1.1)):
        particle(builder, (0.0, y + across, height), (1.0, 0.0, 0.0), radius=_THIN)
    builder.add_triangle(first, first + 1, first + 2, tri_ke=0.0, tri_ka=0.0, tri_kd=0.0, **options)


def add_panels(builder: Any, places: Any, corners: np.ndarray, faces: Any, **options: Any) -> None:
    """Add a cloth of Style3D: faces between places, with its corners in the plane of the panel [m]."""
    shear = options.get("tri_ke", 1e-3)
    newton.solvers.style3d.add_cloth_mesh(
        builder,
        pos=wp.vec3(),
        rot=wp.quat_identity(),
        vel=wp.vec3(),
        vertices=places,
        indices=faces,
        density=1.0,
        panel_verts=[wp.vec2(x, y + z) for x, y, z in corners],
        panel_indices=faces,
        tri_aniso_ke=wp.vec3(2.0 * shear, 2.0 * shear, shear),
        edge_aniso_ke=wp.vec3(options.get("edge_ke", 0.0) / 3.0),  # it acts with 3 e² / A, edge e and area A
        tri_ka=0.0,
        tri_kd=0.0,
        particle_radius=_THIN,
    )


@mechanism
def rod(builder: newton.ModelBuilder, label: str, y: float, *, is_level: bool, **stiffnesses: Any) -> None:
    """Add a rod of two segments of 0.2 m, of which the first stays."""
    points = [wp.vec3(at, y, 1.0) if is_level else wp.vec3(0.0, y, 1.0 - at) for at in (0.0, 0.2, 0.4)]
    surface = newton.ModelBuilder.ShapeConfig(density=0.0)
    held, moving = builder.add_rod(
        rod=newton.Rod(points, radius=0.005), cfg=surface, label=f"{label}/rod", **stiffnesses
    )[0]
    inertia = np.array(equal_moments(MASS * 0.2**2 / 12.0)).reshape(3, 3)
    for body, share in ((held, 0.0), (moving, 1.0)):
        builder.body_mass[body], builder.body_inv_mass[body] = share * MASS, share / MASS
        builder.body_inertia[body] = wp.mat33(share * inertia)
        builder.body_inv_inertia[body] = wp.mat33(share * np.linalg.inv(inertia))


@mechanism
def atwood(builder: newton.ModelBuilder, label: str, y: float, friction: float) -> None:
    """Add weights of 1 kg and 2 kg on a tendon over a fixed roller with friction."""
    ends: list[int] = []
    for x, factor in ((-0.2, 1.0), (0.2, 2.0)):
        slider(Z)(builder, label, y)
        body, frame = builder.body_count - 1, wp.transform(wp.vec3(x, y, 1.0), wp.quat_identity())
        builder.joint_X_p[-1] = builder.body_q[body] = frame
        builder.body_mass[body] *= factor
        builder.body_inv_mass[body] /= factor
        ends.append(body)
    roller: Any = {"offset": wp.vec3(0.0, y, 2.0), "axis": wp.vec3(*Y), "radius": 0.2, "mu": friction}
    kinds, guide = newton.TendonGuideType, newton.TendonGuide
    route = [
        guide(body=ends[0], guide_type=kinds.ANCHOR),
        guide(body=-1, guide_type=kinds.ROLLER, orientation=1, compliance=1e-5, **roller),
        guide(body=ends[1], guide_type=kinds.ANCHOR, compliance=1e-5),
    ]
    builder.add_tendon(route, label=label)
