"""Small mechanisms, each of which moves in one way with a feature of a scene, and in another way without it.

Each function adds one to a builder, or returns a function that does, given the label of its bodies and its place along
y [m].
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec

import newton
import numpy as np
import warp as wp
from pippin.quaternions import product, rotated

from .scenes import equal_moments

Add = Callable[[newton.ModelBuilder, str, float], Any]
"""Adds a mechanism."""

Vector = tuple[float, float, float]

P = ParamSpec("P")

MASS, INERTIA, LENGTH = 1.0, 0.01, 0.2
"""Mass and inertia of a link [kg, kg·m²], and the distance of its centre of mass from its joint, if there is one."""

X, Y, Z, NOWHERE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
BESIDE: Mapping[str, Any] = {"com": (LENGTH, 0.0, 0.0)}
"""A centre of mass beside the joint, so that the weight turns the link about y."""

TUMBLING = np.array([[0.02, 0.004, -0.003], [0.004, 0.028, 0.003], [-0.003, 0.003, 0.016]]), np.array([6.0, 8.0, -3.0])
"""Inertia [kg·m²] and angular velocity [rad/s] of the tumbling body, whose axes are not its principal ones."""

_OPEN = 0.7
"""Angle of a link where a loop is closed, while it is open at zero [rad]."""


def mechanism(add: Callable[Concatenate[newton.ModelBuilder, str, float, P], Any]) -> Callable[P, Add]:
    """Let a function of a builder, a label, a place and options return what adds it, given the options."""

    @wraps(add)
    def made(*shared: P.args, **options: P.kwargs) -> Add:
        return lambda builder, label, y: add(builder, label, y, *shared, **options)

    return made


def _link(builder: newton.ModelBuilder, label: str, com: Vector = NOWHERE, **options: Any) -> int:
    inertia = options.pop("inertia", equal_moments(INERTIA))
    body = builder.add_link(label=f"{label}/{builder.body_count}", mass=MASS, inertia=inertia, **options)
    builder.body_com[body] = wp.vec3(*com)
    return body


def _at(y: float, x: float = 0.0, z: float = 1.0, turn: Any = None) -> Any:
    return wp.transform(wp.vec3(x, y, z), wp.quat_identity() if turn is None else turn)


@mechanism
def hung(
    builder: newton.ModelBuilder,
    label: str,
    y: float,
    kind: str,
    *,
    com: Vector = NOWHERE,
    q: float = 0.0,
    qd: float = 0.0,
    **options: Any,
) -> None:
    """Add a body which hangs from the world by a joint, of `add_joint_KIND` of the builder.

    A joint with one axis starts from a coordinate [m, rad] and a velocity [m/s, rad/s].
    """
    body = _link(builder, label, com)
    builder.body_q[body] = _at(y)
    joint = getattr(builder, f"add_joint_{kind}")(-1, body, parent_xform=_at(y), **options)
    builder.add_articulation([joint], label=label)
    if q or qd:
        builder.joint_q[-1], builder.joint_qd[-1] = q, qd


def slider(axis: Vector = X, **options: Any) -> Add:
    """Return a function that adds a body which slides along an axis."""
    return hung("prismatic", axis=axis, armature=options.pop("armature", 0.0), **options)


def hinge(axis: Vector = Y, **options: Any) -> Add:
    """Return a function that adds a body on a hinge."""
    return hung("revolute", axis=axis, armature=options.pop("armature", 0.0), **options)


@mechanism
def jointed(builder: newton.ModelBuilder, label: str, y: float, axes: Sequence[Vector]) -> None:
    """Add a body with a centre of mass beside its joint, which slides along some axes."""
    slides = [newton.ModelBuilder.JointDofConfig(axis=axis, armature=0.0) for axis in axes]  # this starts Warp
    hung("d6", linear_axes=slides, **BESIDE)(builder, label, y)


@mechanism
def gimbal(builder: newton.ModelBuilder, label: str, y: float, com: Vector) -> None:
    """Add a link on two hinges, between which a body has almost no mass."""
    ring = builder.add_link(mass=1e-9, inertia=equal_moments(1e-9), label=f"{label}/ring")
    link = _link(builder, label, com)
    hinges = [
        builder.add_joint_revolute(-1, ring, parent_xform=_at(y), axis=Z, armature=0.0),
        builder.add_joint_revolute(ring, link, axis=Y, armature=0.0),
    ]
    builder.add_articulation(hinges, label=label)


@mechanism
def bead(builder: newton.ModelBuilder, label: str, y: float, start: float) -> None:
    """Add a rod that turns by 8 rad/s about z, and a body sliding on it from a place [m]."""
    rod, body = _link(builder, label), _link(builder, label)
    joints = [
        builder.add_joint_revolute(-1, rod, parent_xform=_at(y), axis=Z, armature=0.0),
        builder.add_joint_prismatic(rod, body, axis=X, armature=0.0),
    ]
    builder.joint_qd[-2], builder.joint_q[-1] = 8.0, start
    builder.add_articulation(joints, label=label)


@mechanism
def passive(builder: newton.ModelBuilder, label: str, y: float, dofs: int, **numbers: float) -> None:
    """Add a link on a ball joint, of 3 DOFs, or a free body, with numbers of all DOFs by the names of their arrays."""
    (hung("ball", **BESIDE) if dofs == 3 else free)(builder, label, y)
    if "target_ke" in numbers:
        builder.joint_target_mode[-dofs:] = [int(newton.JointTargetMode.POSITION_VELOCITY)] * dofs
    for name, value in numbers.items():
        getattr(builder, f"joint_{name}")[-dofs:] = [value] * dofs


def free(
    builder: newton.ModelBuilder,
    label: str,
    y: float,
    x: float = 0.0,
    z: float = 1.0,
    *,
    turn: Any = None,
    qd: Any = (),
    **options: Any,
) -> int:
    """Add a free body with a velocity of its joint, and return it."""
    body = _link(builder, label, **options)
    builder.body_q[body] = _at(y, x, z, turn)
    builder.add_articulation([builder.add_joint_free(body)], label=f"{label}/{body}")
    builder.joint_qd[-6 : len(builder.joint_qd) - 6 + len(qd)] = [*qd]
    return body


def thrown(speed: float) -> Add:
    """Return a function that adds a free body with an upward velocity [m/s]."""
    return partial(free, qd=(0.0, 0.0, speed))


def turning(inertia: np.ndarray) -> Add:
    """Return a function that adds a free body with an inertia [kg·m²] and the spin of the tumbling one."""
    return lambda builder, label, y: free(
        builder, label, y, inertia=wp.mat33(*inertia.ravel()), qd=(*NOWHERE, *TUMBLING[1])
    )


@mechanism
def framed(builder: newton.ModelBuilder, label: str, y: float, speed: float) -> None:
    """Add a free body with an upward velocity [m/s], and a body without a mass fixed to it."""
    body = _link(builder, label)
    frame = builder.add_link(label=f"{label}/frame", mass=0.0, inertia=wp.mat33(0.0))
    builder.body_q[body] = builder.body_q[frame] = _at(y)
    joints = [builder.add_joint_free(body), builder.add_joint_fixed(body, frame)]
    builder.joint_qd[-4] = speed
    builder.add_articulation(joints, label=label)


def _surface(**options: Any) -> newton.ModelBuilder.ShapeConfig:
    return newton.ModelBuilder.ShapeConfig(density=0.0, **options)


def ball(height: float, radius: float = 0.1) -> Add:
    """Return a function that adds a ball of a radius [m] whose centre is at a height above the ground [m]."""
    return lambda builder, label, y: builder.add_shape_sphere(
        free(builder, label, y, z=height), radius=radius, cfg=_surface()
    )


SIDES = (0.35, 1.92, 3.49, 5.06)
"""Directions in which shapes slide, as angles from x [rad]: along no axis."""


def inclined(lean: float = 0.0, side: float = SIDES[0]) -> tuple[Any, np.ndarray]:
    """Return the rotation of a block that falls off by an angle along a side [rad]; and its axes: along the side,
    across, and its normal.
    """
    yaw, pitch = np.array([0.0, 0.0, math.sin(side / 2), math.cos(side / 2)]), math.sin(lean / 2)
    turn = product(yaw, np.array([0.0, pitch, 0.0, math.cos(lean / 2)]))
    return wp.quat(*turn), rotated(turn, np.eye(3))


@mechanism
def met(
    builder: newton.ModelBuilder,
    label: str,
    y: float,
    *,
    gap: float = 0.0,
    speed: tuple[float, float] = (0.0, 0.0),
    spin: tuple[float, float] = (0.0, 0.0),
    is_box: bool = False,
    belt: float | None = None,
    lean: float = 0.0,
    **surface: Any,
) -> None:
    """Add a ball or a box above a block of its own, which leans by an angle [rad], at a distance `gap` [m], both of one
    surface as a shape's configuration has it.

    It has a velocity along the block and its normal [m/s] and an angular velocity across and about the normal [rad/s].
    A block with a `belt` is a kinematic body of this velocity along itself [m/s].
    """
    first, cfg, block = builder.shape_count, _surface(**surface), -1
    turn, axes = inclined(lean)
    if belt is not None:
        block = free(builder, label, y, z=0.4, turn=turn, qd=belt * axes[0], is_kinematic=True)
    x, beside, z = (0.2 + gap) * axes[2]
    motion = (*((speed[0], 0.0, speed[1]) @ axes), *((0.0, *spin) @ axes))
    body = free(builder, label, y + beside, x, 0.4 + z, turn=turn, qd=motion)
    if is_box:
        builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, cfg=cfg)
    else:
        builder.add_shape_sphere(body, radius=0.1, cfg=cfg)
    builder.add_shape_box(block, xform=_at(y, z=0.4, turn=turn) if block < 0 else None, hx=0.4, hy=0.2, hz=0.1, cfg=cfg)
    dimensions = builder.custom_attributes.get("mujoco:condim")
    if dimensions is not None and any(spin):  # MuJoCo leaves the friction out of contacts of a lower dimension
        values: Any = dimensions.values or {}
        dimensions.values = {**values, **dict.fromkeys(range(first, builder.shape_count), 6)}


SHAPES: Mapping[str, tuple[float, Mapping[str, Any]]] = {
    "sphere": (0.1, {"radius": 0.1}),
    "capsule": (0.06, {"radius": 0.06, "half_height": 0.1}),
    "cylinder": (0.05, {"radius": 0.1, "half_height": 0.05}),
    "box": (0.06, {"hx": 0.1, "hy": 0.08, "hz": 0.06}),
    "ellipsoid": (0.06, {"rx": 0.12, "ry": 0.1, "rz": 0.06}),
    "cone": (0.05, {"radius": 0.1, "half_height": 0.05}),
    "convex_hull": (0.06, {"mesh": (0.1, 0.08, 0.06)}),
}
"""Kinds of shapes by the names of the builder, with the height of their centres above what they stand on [m]."""


def rolling_radius(kind: str) -> float:
    """Return the radius on which a shape rolls [m]; a cylinder lies for it."""
    return float(SHAPES[kind][1]["radius"])


def add_shape(builder: Any, body: int, kind: str, cfg: newton.ModelBuilder.ShapeConfig, **options: Any) -> None:
    """Add a shape of a kind, of about 0.1 m, to a body."""
    sizes = {name: newton.Mesh.create_box(*each) if name == "mesh" else each for name, each in SHAPES[kind][1].items()}
    getattr(builder, f"add_shape_{kind}")(body, cfg=cfg, **sizes, **options)


@mechanism
def slid(builder: newton.ModelBuilder, label: str, y: float, kind: str, mu: float, lean: float = 0.0) -> None:
    """Add four bodies of one kind of shape on a block each, which slide with 1 m/s, or lie still if the blocks lean by
    an angle [rad]. What rolls down lies on its side.
    """
    height, is_lying = SHAPES[kind][0], kind == "capsule"
    if lean:
        height, is_lying = rolling_radius(kind), kind != "sphere"
    across: Any = wp.vec3(*X)
    lying = wp.transform(wp.vec3(), wp.quat_from_axis_angle(across, math.pi / 2))
    for number, side in enumerate(SIDES):
        turn, axes = inclined(lean, side)
        x, beside, z = (0.1 + height) * axes[2]
        at, speed = (y + beside, 1.2 * number + x, 0.1 + z), () if lean else axes[0]
        body = free(builder, label, *at, turn=turn, qd=speed)
        add_shape(builder, body, kind, _surface(mu=mu), xform=lying if is_lying else None)
        block = _at(y, 1.2 * number, 0.1, turn)
        builder.add_shape_box(-1, xform=block, hx=0.4, hy=0.4, hz=0.1, cfg=_surface(mu=mu))


@mechanism
def leaning(builder: newton.ModelBuilder, label: str, y: float, tilt: float) -> None:
    """Add a tall box on a block, leaning by an angle [rad]: it stands on one edge, which lies along no axis."""
    turn, axes = inclined(tilt)
    edge = axes.T @ [0.05, 0.0, -0.2]
    body = free(builder, label, y, z=0.4995 - edge[2], turn=turn)
    builder.add_shape_box(body, hx=0.05, hy=0.05, hz=0.2, cfg=_surface(mu=1.0))
    block = _at(y, z=0.4, turn=inclined()[0])
    builder.add_shape_box(-1, xform=block, hx=0.4, hy=0.2, hz=0.1, cfg=_surface(mu=1.0))


@mechanism
def struck(builder: newton.ModelBuilder, label: str, y: float, gap: float) -> None:
    """Add a ball that flies with 2 m/s towards a second one, at a distance [m]."""
    for x, speed in ((-0.2 - gap, 2.0), (0.0, 0.0)):
        body = free(builder, label, y, x=x, qd=(speed, 0.0, 0.0))
        builder.add_shape_sphere(body, radius=0.1, cfg=_surface())


@mechanism
def linked(builder: newton.ModelBuilder, label: str, y: float) -> tuple[int, int]:
    """Add an upright and a horizontal link, and return them; their tips meet."""
    tips = (wp.vec3(0.0, 0.0, -LENGTH), wp.vec3(LENGTH, 0.0, 0.0))
    turned = wp.quat(0.0, -math.sin(_OPEN / 2), 0.0, math.cos(_OPEN / 2))
    pivots = (_at(y, x=LENGTH, z=1.0 + LENGTH), wp.transform(wp.vec3(0.0, y, 1.0), turned))
    upright, level = (_link(builder, label, tuple(tip)) for tip in tips)
    hinges = [
        builder.add_joint_revolute(-1, body, parent_xform=pivot, axis=Y, armature=0.0)
        for body, pivot in zip((upright, level), pivots, strict=True)
    ]
    builder.joint_q[-1] = _OPEN
    builder.add_articulation(hinges, label=label)
    return upright, level


@mechanism
def pinned(builder: newton.ModelBuilder, label: str, y: float) -> None:
    """Add an upright and a horizontal link; a ball joint outside the articulation ties their tips together.

    The tips are apart where all coordinates are zero.
    """
    upright, level = linked()(builder, label, y)
    frames = [wp.transform(builder.body_com[body], wp.quat_identity()) for body in (upright, level)]
    builder.add_joint_ball(upright, level, parent_xform=frames[0], child_xform=frames[1])


@mechanism
def mimic(builder: newton.ModelBuilder, label: str, y: float, factor: float, offset: float) -> None:
    """Add an upright slider, which falls, and a level one, which follows it: at offset [m] + factor × its place."""
    joints = []
    for place, axis, q in ((y, Z, 0.0), (y + 0.4, X, offset)):
        body = _link(builder, label)
        joints.append(builder.add_joint_prismatic(-1, body, parent_xform=_at(place), axis=axis, armature=0.0))
        builder.joint_q[-1] = q
    builder.add_articulation(joints, label=label)
    builder.set_joint_mimic(joints[1], joints[0], coeffs=(offset, factor))


_SLIDES = '<body name="{label}/2" pos="0 0.4 0"><joint name="{label}/slides" type="slide" axis="1 0 0"/>{link}</body>'
_FALLS = '<body name="{label}/1"><joint name="{label}/falls" type="slide" axis="0 0 1"/>{link}</body>'
BODIES = {"slides": _SLIDES, "falls": _FALLS, "carries": _FALLS.replace("</body>", f"{_SLIDES}</body>")}
BODIES["floats"] = '<body name="{label}/1" gravcomp="1"><freejoint/>{link}</body>'
"""Bodies of MJCF: one that slides along x, one that falls along z, one that falls with the first on it, and one that
has no weight.
"""


@mechanism
def imported(builder: newton.ModelBuilder, label: str, y: float, world: str, rest: str = "", q: float = 0.0) -> None:
    """Add a robot of MJCF, as importers make its constraints, tendons and actuators, with `BODIES` by their names.

    In it, `{link}` stands for the mass of each, and `{label}` for the label. The last joint starts from `q` [m].
    """
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    link = f'<inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>'
    bodies = "".join(map(BODIES.__getitem__, world.split()))
    text = f"<mujoco><worldbody>{bodies}</worldbody>{rest}</mujoco>".format(label=label, link=link)
    first = builder.body_count
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*SolverMuJoCo enforces them; other solvers ignore them")
        builder.add_mjcf(text, xform=_at(y))
    builder.body_label[first:] = [f"{label}/{body}" for body in range(first, builder.body_count)]
    if q:
        builder.joint_q[-1] = q
