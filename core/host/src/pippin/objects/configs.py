"""Settings of the built-in objects: bodies, rods, and what is made of particles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, deep_mapping, ge, gt, instance_of, le, min_len, optional
from pippin import FilePath
from pippin.validators import finite, fraction, non_negative, only_where, positive, principal_moments

from . import JointConfig, PinConfig
from .scene_object import ObjectConfig, Vector3
from .shape_configs import ObjectShapeConfig

_moves = only_where(lambda body: body.motion != "static", "a motion that is not 'static'")
_is_free = only_where(lambda body: body.motion != "static" and body.joint is None, "a body that moves without a joint")


def _has_position(instance: Any, attribute: Any, value: Mapping[str, float]) -> None:
    if value and not hasattr(instance.joint, "position"):
        raise ValueError(f"'{attribute.name}' needs a joint of type 'revolute' or 'prismatic'; leave it out otherwise")


def _the_only_mass(instance: Any, attribute: Any, value: float | None) -> None:
    if value is not None and instance.extra_mass is not None:
        raise ValueError(f"'{attribute.name}' is given beside 'extra_mass'; leave one of the two out: {value}")


@attrs.frozen(kw_only=True)
class BodyVariantConfig:
    """One of the sets of shapes of a body, and its mass."""

    label: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of the variant; by default `variant_0`, `variant_1` and so on."""

    shapes: tuple[ObjectShapeConfig, ...] = attrs.field(validator=min_len(1))
    """Shapes of the body beside those of all variants. No plane and no heightfield."""

    mass: float | None = attrs.field(default=None, validator=optional(positive))
    """Mass of these shapes [kg]; by default that of their densities. The inertia is scaled alike."""


def _are_variants(instance: Any, attribute: Any, value: Any) -> None:
    count = len(instance.variants)
    if not count and value != "turn":
        raise ValueError(f"'{attribute.name}' needs 'variants', of which it chooses; add them")
    for each in () if isinstance(value, str) else value:
        if not 0 <= each < count:
            raise ValueError(f"'{attribute.name}' must have numbers of variants, from 0 to {count - 1}: {list(value)}")
    if value == ():
        raise ValueError(f"'{attribute.name}' must name a variant, got []")


@attrs.frozen(kw_only=True)
class BodyConfig(ObjectConfig):
    """A rigid body with shapes, or shapes that never move."""

    implementation = ".bodies:Body"

    motion: Literal["free", "kinematic", "static"] = "free"
    """What moves the body: forces (`free`), prescribed poses or velocities alone (`kinematic`), or nothing
    (`static`)."""

    shapes: tuple[ObjectShapeConfig, ...] = ()
    """Shapes of the body; with `variants`, those that all of them have."""

    variants: tuple[BodyVariantConfig, ...] = attrs.field(default=(), validator=_moves)
    """Sets of shapes, of which the body has one in each world at a time; the solver needs `body_variants`."""

    choose: Literal["turn", "random"] | tuple[int, ...] = attrs.field(default="turn", validator=_are_variants)
    """The variant that each world begins with: one after the other by the number of the world and of the copy
    (`turn`), drawn by the seed of the world (`random`), or numbers of variants that the worlds take in turn."""

    material: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of a material of `[scene.materials]`, for shapes that state none."""

    velocity: Vector3 = attrs.field(default=(0.0, 0.0, 0.0), validator=[deep_iterable(finite), _is_free])
    """Start velocity of the centre of mass in the world [m/s]."""

    angular_velocity: Vector3 = attrs.field(default=(0.0, 0.0, 0.0), validator=[deep_iterable(finite), _is_free])
    """Start angular velocity in the world [rad/s]."""

    mass: float | None = attrs.field(default=None, validator=[optional(positive), _moves, _the_only_mass])
    """Mass of the whole body [kg]; by default that of its shapes, by their densities. The inertia is scaled alike."""

    inertia: Vector3 | None = attrs.field(
        default=None,
        validator=[optional(deep_iterable(positive)), principal_moments, only_where(lambda body: body.mass, "'mass'")],
    )
    """Moments of inertia about the axes of the body, at the centre of mass [kg·m²]; by default those of the shapes.
    With `mass` and `com`, the shapes add nothing."""

    com: Vector3 | None = attrs.field(
        default=None, validator=[optional(deep_iterable(finite)), only_where(lambda body: body.inertia, "'inertia'")]
    )
    """Centre of mass in the frame of the body [m], given with `inertia`; the origin by default."""

    extra_mass: float | None = attrs.field(default=None, validator=[optional(positive), _moves])
    """Mass of a point at the origin that is added to the shapes [kg]."""

    joint: JointConfig | None = attrs.field(default=None, validator=_moves)
    """Joint that moves the body, in place of a free one; every copy has its own."""

    joint_positions: Mapping[str, float] = attrs.field(
        factory=dict, validator=[deep_mapping(instance_of(str), finite), _has_position]
    )
    """Start positions of the joints of copies, by pattern of the copies' labels [m or rad]."""


_straight = only_where(lambda rod: not rod.points, "a rod without 'points'")
_chain = only_where(lambda rod: not rod.edges, "a rod without 'edges'")


def _with_points(instance: Any, attribute: Any, value: tuple[tuple[int, int], ...] | str) -> None:
    if value and not instance.points:
        raise ValueError(f"'{attribute.name}' needs 'points', which it joins; add them")


def _number() -> Any:
    return attrs.field(default=None, validator=optional(non_negative))


@attrs.frozen(kw_only=True)
class RodConfig(ObjectConfig):
    """A cable or a rod of short segments: capsules between points, with stiff joints. Solver `vbd` moves it."""

    implementation = ".bodies:Rod"

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


def _are_points(instance: Any, attribute: Any, value: tuple[Vector3, ...] | str) -> None:
    if not value:
        raise ValueError(f"'{attribute.name}' must hold at least one point")
    for point in () if isinstance(value, str) else value:
        finite(instance, attribute, point)


def _are_pairs(instance: Any, attribute: Any, value: tuple[tuple[int, int], ...]) -> None:
    for pair in value:
        if pair[0] == pair[1] or min(pair) < 0:
            raise ValueError(f"'{attribute.name}' must be pairs of two particles, counted from 0: {list(pair)}")


_joins = only_where(lambda particles: particles.springs, "'springs'")


def _cells() -> Any:
    return attrs.field(validator=deep_iterable(ge(1)))


@attrs.frozen(kw_only=True)
class _ParticleObjectConfig(ObjectConfig):
    velocity: Vector3 = attrs.field(default=(0.0, 0.0, 0.0), validator=deep_iterable(finite))
    """Start velocity of all particles in the world [m/s]."""

    particle_radius: float | None = attrs.field(default=None, validator=optional(positive))
    """Radius at which a particle touches shapes and other particles [m] (0.1)."""

    pin: tuple[PinConfig, ...] = ()
    """Particles that are held at their start position in the world."""

    color: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(fraction)))
    """Colour: red, green and blue from 0 to 1; by default one of eight that take turns."""


@attrs.frozen(kw_only=True)
class _ClothConfig(_ParticleObjectConfig):
    """Keys of every cloth, by Newton's names."""

    tri_ke: float | None = _number()
    """Stiffness of triangles against shear, the first Lamé parameter μ [Pa·m] (100)."""

    tri_ka: float | None = _number()
    """Stiffness of triangles against change of area, the second Lamé parameter λ [Pa·m] (100)."""

    tri_kd: float | None = _number()
    """Damping of triangles (10)."""

    tri_drag: float | None = _number()
    """Drag of triangles in air (0)."""

    tri_lift: float | None = _number()
    """Lift of triangles in air (0)."""

    edge_ke: float = attrs.field(default=0.0, validator=non_negative)
    """Stiffness of edges against bending [N·m/rad]. Newton's own default, 100, throws a light cloth apart."""

    edge_kd: float | None = attrs.field(
        default=None,
        validator=[optional(non_negative), only_where(lambda cloth: cloth.edge_ke or not cloth.edge_kd, "'edge_ke'")],
    )
    """Damping of bending [N·m·s/rad] (0)."""

    spring_ke: float | None = _number()
    """Stiffness of springs along all edges [N/m]; by default there are no springs. XPBD's cloth needs them."""

    spring_kd: float | None = _number()
    """Damping of the springs [N·s/m] (0)."""


@attrs.frozen(kw_only=True)
class ClothGridConfig(_ClothConfig):
    """A rectangle of cloth in the plane x, y of the object, with a corner at its origin."""

    implementation = ".particles:ClothGrid"

    cells: tuple[int, int] = _cells()
    """Number of cells along x and y; there is one particle more than cells."""

    cell: tuple[float, float] = attrs.field(validator=deep_iterable(positive))
    """Size of a cell [m]."""

    density: float | None = attrs.field(default=None, validator=optional(positive))
    """Mass for each area [kg/m²]."""

    particle_mass: float | None = attrs.field(default=None, validator=optional(positive))
    """Mass of each particle [kg], in place of a density."""

    def __attrs_post_init__(self) -> None:
        if (self.density is None) == (self.particle_mass is None):
            raise ValueError("'density' must say what the cloth weighs, or 'particle_mass'; give one of the two")


@attrs.frozen(kw_only=True)
class ClothMeshConfig(_ClothConfig):
    """A cloth with the triangles of a file."""

    implementation = ".particles:ClothMesh"

    path: FilePath
    """A file of triangles, as for the shape `mesh`."""

    prim: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Path of the mesh in a USD stage."""

    scale: float = attrs.field(default=1.0, validator=positive)
    """Scale of all lengths."""

    density: float = attrs.field(validator=positive)
    """Mass for each area [kg/m²]."""

    rest: Literal["mesh", "flat"] = "mesh"
    """Shape that bending returns to: that of the mesh, or a flat one."""


@attrs.frozen(kw_only=True)
class _SoftConfig(_ParticleObjectConfig):
    """Keys of every soft body, by Newton's names."""

    density: float = attrs.field(validator=positive)
    """Density [kg/m³]."""

    k_mu: float = attrs.field(validator=positive)
    """Stiffness against shear, the first Lamé parameter μ [Pa]."""

    k_lambda: float = attrs.field(validator=positive)
    """Stiffness against change of volume, the second Lamé parameter λ [Pa]."""

    k_damp: float = attrs.field(default=0.0, validator=non_negative)
    """Damping [Pa·s]."""


@attrs.frozen(kw_only=True)
class SoftGridConfig(_SoftConfig):
    """A soft block of cells, each of five tetrahedra, with a corner at the origin of the object."""

    implementation = ".particles:SoftGrid"

    cells: tuple[int, int, int] = _cells()
    """Number of cells along x, y and z; there is one particle more than cells."""

    cell: Vector3 = attrs.field(validator=deep_iterable(positive))
    """Size of a cell [m]."""


@attrs.frozen(kw_only=True)
class SoftMeshConfig(_SoftConfig):
    """A soft body with the tetrahedra of a file."""

    implementation = ".particles:SoftMesh"

    path: FilePath
    """A file of tetrahedra that Newton reads: `.npz`, a USD stage, or a format of meshio."""

    scale: float = attrs.field(default=1.0, validator=positive)
    """Scale of all lengths."""


@attrs.frozen(kw_only=True)
class GranularConfig(_ParticleObjectConfig):
    """Loose particles in a block or at listed points: sand, snow, mud or water, as the attributes of the material
    say.
    """

    implementation = ".particles:Granular"

    size: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(non_negative)))
    """Lengths of the block along x, y and z [m]; its lowest corner is at the origin of the object. A length of zero
    stands for one layer."""

    points: tuple[Vector3, ...] | FilePath = ()
    """Places of the particles in the frame of the object [m], in place of a block; or a file `.csv` or `.npy` with such
    rows."""

    spacing: float = attrs.field(validator=positive)
    """Largest distance of neighbouring particles in a block; that of the listed points [m]."""

    density: float = attrs.field(validator=positive)
    """Density [kg/m³]: each particle has the mass of a cell between neighbours."""

    jitter: float = attrs.field(default=0.0, validator=non_negative)
    """Largest random offset of a particle, in parts of the spacing."""

    mpm: Mapping[str, float] = attrs.field(factory=dict, validator=deep_mapping(instance_of(str), finite))
    """Attributes of the material by the names of the solver `implicit-mpm`, such as `friction` and `viscosity`."""

    def __attrs_post_init__(self) -> None:
        if (self.size is None) == (not self.points):
            raise ValueError(
                "'size' must say how large the block is, or 'points' where particles are; give one of the two"
            )


@attrs.frozen(kw_only=True)
class ParticlesConfig(_ParticleObjectConfig):
    """Single particles at stated points, and springs between them."""

    implementation = ".particles:PointParticles"

    points: tuple[Vector3, ...] | FilePath = attrs.field(default=((0.0, 0.0, 0.0),), validator=_are_points)
    """Positions in the frame of the object [m]; or a file `.csv` or `.npy` with such rows."""

    particle_mass: float = attrs.field(validator=positive)
    """Mass of each particle [kg]."""

    springs: tuple[tuple[int, int], ...] = attrs.field(default=(), validator=_are_pairs)
    """Pairs of numbers of particles, counted from 0 in the order of the points, with a spring between them. Its rest
    length is the distance at the start."""

    spring_ke: float = attrs.field(default=100.0, validator=[non_negative, _joins])
    """Stiffness of the springs [N/m]."""

    spring_kd: float = attrs.field(default=0.0, validator=[non_negative, _joins])
    """Damping of the springs [N·s/m]."""
