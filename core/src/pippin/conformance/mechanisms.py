"""Small mechanisms, one for each feature of a scene: the motion of each shows whether a solver supports the feature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.simulation import Simulation

from .observation import model_and_state, step
from .plugin_under_test import PluginUnderTest
from .scenes import GRAVITY, equal_moments

DURATION = 0.1
"""Time after which motions are measured [s]."""

_FALL = GRAVITY * DURATION**2 / 2
_MASS, _INERTIA, _LENGTH = 1.0, 0.01, 0.2
_X, _Z, _TURN_Z = 0, 2, 5
"""Columns of velocities; the first two are columns of positions, too."""

Rows = tuple[np.ndarray, np.ndarray]
"""Poses and velocities of the bodies of a bench, shapes [bodies, 7] and [bodies, 6]."""


@attrs.frozen
class Bench:
    """A mechanism that moves in one way with a feature, and in another way without the feature."""

    expectation: str
    """Meaning of the measured number, with its unit; for errors and the reference page."""

    bounds: tuple[float, float]
    """Bounds of the number: far from its value without the feature, and wide enough for any numerical method."""

    measure: Callable[[Rows, Rows], float]
    """Returns the number from the bodies before and after `DURATION`."""

    add: Callable[[newton.ModelBuilder, str, float], Any]
    """Adds the mechanism to a builder, given the label of its bodies and its place along y [m]."""


def _link(builder: newton.ModelBuilder, label: str, com: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> int:
    body = builder.add_link(label=f"{label}/{builder.body_count}", mass=_MASS, inertia=equal_moments(_INERTIA))
    builder.body_com[body] = wp.vec3(*com)
    return body


def _at(y: float, x: float = 0.0, z: float = 1.0) -> Any:
    return wp.transform(wp.vec3(x, y, z), wp.quat_identity())


def _hung(kind: str, *, com: tuple[float, float, float] = (0.0, 0.0, 0.0), **options: Any) -> Any:
    """Return a function that adds a body which hangs from the world by a joint."""

    def add(builder: newton.ModelBuilder, label: str, y: float) -> None:
        body = _link(builder, label, com)
        builder.body_q[body] = _at(y)
        joint = getattr(builder, f"add_joint_{kind}")(-1, body, parent_xform=_at(y), **options)
        builder.add_articulation([joint], label=label)

    return add


def _gimbal(builder: newton.ModelBuilder, label: str, y: float) -> None:
    """Add a link on two hinges, between which a body has almost no mass."""
    ring = builder.add_link(mass=1e-9, inertia=equal_moments(1e-9), label=f"{label}/ring")
    link = _link(builder, label, (_LENGTH, 0.0, 0.0))
    hinges = [
        builder.add_joint_revolute(-1, ring, parent_xform=_at(y), axis=(0.0, 0.0, 1.0), armature=0.0),
        builder.add_joint_revolute(ring, link, axis=(0.0, 1.0, 0.0), armature=0.0),
    ]
    builder.add_articulation(hinges, label=label)


def _limited_ball(builder: newton.ModelBuilder, label: str, y: float) -> None:
    _hung("ball", **_HORIZONTAL)(builder, label, y)
    builder.joint_limit_lower[-3:], builder.joint_limit_upper[-3:] = [0.0] * 3, [0.03] * 3


def _slider(
    *, axis: tuple[float, float, float] = (1.0, 0.0, 0.0), q: float = 0.0, qd: float = 0.0, **options: Any
) -> Any:
    """Return a function that adds a body which slides along an axis, from a position [m] with a velocity [m/s]."""
    hung = _hung("prismatic", axis=axis, **{"armature": 0.0, **options})

    def add(builder: newton.ModelBuilder, label: str, y: float) -> None:
        hung(builder, label, y)
        builder.joint_q[-1], builder.joint_qd[-1] = q, qd

    return add


def _free(builder: newton.ModelBuilder, label: str, y: float, z: float = 1.0) -> int:
    body = _link(builder, label)
    builder.body_q[body] = _at(y, z=z)
    builder.add_articulation([builder.add_joint_free(body)], label=label)
    return body


def _free_frame(builder: newton.ModelBuilder, label: str, y: float) -> None:
    """Add a free body, and a body without a mass that is fixed to it."""
    body = _link(builder, label)
    frame = builder.add_link(label=f"{label}/frame", mass=0.0, inertia=wp.mat33(0.0))
    builder.body_q[body] = builder.body_q[frame] = _at(y)
    joints = [builder.add_joint_free(body), builder.add_joint_fixed(body, frame)]
    builder.add_articulation(joints, label=label)


def _resting_ball(builder: newton.ModelBuilder, label: str, y: float) -> None:
    body = _free(builder, label, y, z=0.0999)
    builder.add_shape_sphere(body, radius=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=0.0))


def _met(*, gap: float = 0.0, speed: tuple[float, float] = (0.0, 0.0), **surface: Any) -> Any:
    """Return a function that adds a ball above a block of its own, both of one surface.

    Args:
        gap: Distance between them [m].
        speed: Velocity of the ball along x and z [m/s].
        surface: Properties of both, as a shape's configuration has them.
    """

    def add(builder: newton.ModelBuilder, label: str, y: float) -> None:
        body = _free(builder, label, y, z=0.6 + gap)
        kind = newton.ModelBuilder.ShapeConfig(density=0.0, **surface)
        builder.add_shape_sphere(body, radius=0.1, cfg=kind)
        builder.add_shape_box(-1, xform=_at(y, z=0.4), hx=0.4, hy=0.2, hz=0.1, cfg=kind)
        builder.joint_qd[-6:-3] = [speed[0], 0.0, speed[1]]

    return add


def _spun(*, spin: tuple[float, float], speed: float = 0.0, **surface: Any) -> Any:
    """Return a function that adds a ball that turns on a block of its own, both of one surface.

    Args:
        spin: Angular velocity of the ball about y and z [rad/s].
        speed: Velocity of the ball along x [m/s].
        surface: As for `_met`.
    """
    met = _met(gap=-0.0005, speed=(speed, 0.0), **surface)

    def add(builder: newton.ModelBuilder, label: str, y: float) -> None:
        first = builder.shape_count
        met(builder, label, y)
        builder.joint_qd[-3:] = [0.0, *spin]
        dimensions = builder.custom_attributes.get("mujoco:condim")
        if dimensions is not None:  # MuJoCo leaves the friction out of contacts of a lower dimension
            values: Any = dimensions.values or {}
            dimensions.values = {**values, **dict.fromkeys(range(first, builder.shape_count), 6)}

    return add


def _d6(builder: newton.ModelBuilder, label: str, y: float) -> None:
    body = _link(builder, label)
    axes = [newton.ModelBuilder.JointDofConfig(axis=axis, armature=0.0) for axis in ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))]
    builder.add_articulation([builder.add_joint_d6(-1, body, linear_axes=axes, parent_xform=_at(y))], label=label)


def _pinned(builder: newton.ModelBuilder, label: str, y: float) -> None:
    """Add an upright and a horizontal link; a ball joint outside the articulation ties their tips together."""
    tips = (wp.vec3(0.0, 0.0, -_LENGTH), wp.vec3(_LENGTH, 0.0, 0.0))
    pivots = (_at(y, x=_LENGTH, z=1.0 + _LENGTH), _at(y))
    upright, level = (_link(builder, label, tuple(tip)) for tip in tips)
    hinges = [
        builder.add_joint_revolute(-1, body, parent_xform=pivot, axis=(0.0, 1.0, 0.0), armature=0.0)
        for body, pivot in zip((upright, level), pivots, strict=True)
    ]
    builder.add_articulation(hinges, label=label)
    frames = [wp.transform(tip, wp.quat_identity()) for tip in tips]
    builder.add_joint_ball(upright, level, parent_xform=frames[0], child_xform=frames[1])


def _mimic(builder: newton.ModelBuilder, label: str, y: float) -> None:
    """Add two sliders: the first moves, and the second mimics it."""
    joints = []
    for offset, speed in ((0.0, 1.0), (0.4, 0.0)):
        body = _link(builder, label)
        joints.append(
            builder.add_joint_prismatic(-1, body, parent_xform=_at(y + offset), axis=(1.0, 0.0, 0.0), armature=0.0)
        )
        builder.joint_qd[-1] = speed
    builder.add_articulation(joints, label=label)
    builder.set_joint_mimic(joints[1], joints[0])


def _moved(axis: int, sign: float = 1.0) -> Callable[[Rows, Rows], float]:
    """Return a function that measures the displacement of the last body along an axis [m]."""
    return lambda before, after: sign * float(after[0][-1, axis] - before[0][-1, axis])


def _speed(axis: int, sign: float = 1.0) -> Callable[[Rows, Rows], float]:
    """Return a function that measures a velocity of the last body [m/s, rad/s]."""
    return lambda before, after: sign * float(after[1][-1, axis])


def _turned(before: Rows, after: Rows) -> float:
    """Return the angle between the first and the last pose of the last body [rad]."""
    cosine = abs(float(np.dot(before[0][-1, 3:], after[0][-1, 3:])))
    return 2.0 * float(np.arccos(min(cosine, 1.0)))


def _fallen(before: Rows, after: Rows) -> float:
    """Return the depth of the last body's fall, in units of the depth of a free fall."""
    return float(before[0][-1, _Z] - after[0][-1, _Z]) / _FALL


_TURN = _MASS * GRAVITY * _LENGTH / (_INERTIA + _MASS * _LENGTH**2) * DURATION**2 / 2
"""Approximate angle by which a link turns about its hinge from the horizontal [rad]."""

_HORIZONTAL: Mapping[str, Any] = {"com": (_LENGTH, 0.0, 0.0)}
_ALONG_Z = (0.0, 0.0, 1.0)


def _falls(expectation: str, add: Any, bounds: tuple[float, float] = (0.8, 1.2)) -> Bench:
    return Bench(f"{expectation}, in units of a free fall", bounds, _fallen, add)


def _stays(expectation: str, add: Any) -> Bench:
    return _falls(expectation, add, (-0.2, 0.2))


def _turns(expectation: str, add: Any) -> Bench:
    return Bench(f"{expectation} turns down [rad]", (0.7 * _TURN, 1.2 * _TURN), _turned, add)


def _stops(expectation: str, add: Any) -> Bench:
    return Bench(f"a limit of 0.03 rad stops {expectation} [rad]", (0.0, 0.4 * _TURN), _turned, add)


_HINGE = {"axis": (0.0, 1.0, 0.0), "armature": 0.0, **_HORIZONTAL}

BENCHES: Mapping[str, Bench] = {
    "rigid_bodies": _falls("a free body falls", _free),
    "free_joints": _falls("a body with a free joint falls", _free),
    "rigid_contacts": _stays("the ground carries a ball", _resting_ball),
    "fixed_joints": _stays("a fixed joint holds a body", _hung("fixed")),
    "revolute_joints": _turns("a hinged link", _hung("revolute", **_HINGE)),
    "ball_joints": _turns("a link on a ball joint", _hung("ball", **_HORIZONTAL)),
    "prismatic_joints": _falls("an upright slider falls", _slider(axis=_ALONG_Z)),
    "d6_joints": _falls("a joint with axes x and z lets a body fall", _d6),
    "distance_joints": Bench(
        "a tether of 0.02 m stops a fall of 0.05 m [m]",
        (0.01, 0.03),
        _moved(_Z, -1.0),
        _hung("distance", min_distance=-1.0, max_distance=0.02),
    ),
    "loop_joints": Bench(
        "a joint that closes a loop holds a link [rad]", (-0.1 * _TURN, 0.2 * _TURN), _turned, _pinned
    ),
    "disabled_joints": _falls("a disabled joint lets a body fall", _hung("fixed", enabled=False)),
    "light_links": _turns("a link behind a hinge and a link of 1e-9 kg", _gimbal),
    "joint_limits": _stops("a link", _hung("revolute", limit_lower=-0.03, limit_upper=0.03, **_HINGE)),
    "ball_limits": _stops("a link on a ball joint", _limited_ball),
    "joint_drives": Bench(
        "a drive of 100 N/m pulls a slider to 0.1 m [m]",
        (0.02, 0.08),
        _moved(_X),
        _slider(target_q=0.1, target_ke=100.0),
    ),
    "massless_bodies": _falls("a free body and a frame without mass fall", _free_frame),
    "mimic_joints": Bench("a slider follows an equal one that moves by 1 m/s [m/s]", (0.25, 1.1), _speed(_X), _mimic),
    "armature": _falls(
        "armature equal to its mass halves a slider's fall", _slider(axis=_ALONG_Z, armature=_MASS), (0.4, 0.6)
    ),
    "joint_friction": Bench(
        "friction of 5 N slows a slider from 1 m/s [m/s]", (0.3, 0.7), _speed(_X), _slider(qd=1.0, friction=5.0)
    ),
    "joint_damping": Bench(
        "damping of 10 N·s/m slows a slider from 1 m/s [m/s]", (0.2, 0.6), _speed(_X), _slider(qd=1.0, damping=10.0)
    ),
    "joint_stiffness": Bench(
        "a spring of 100 N/m pulls a slider from 0.1 m [m]",
        (-0.07, -0.025),
        _moved(_X),
        _slider(q=0.1, stiffness=100.0),
    ),
    "effort_limits": Bench(
        "a drive held to 1 N moves a slider by t²/2 N/kg [m]",
        (0.002, 0.01),
        _moved(_X),
        _slider(target_q=1.0, target_ke=1000.0, effort_limit=1.0),
    ),
    "velocity_limits": Bench(
        "a limit of 0.2 m/s holds back a falling slider [m/s]",
        (0.1, 0.4),
        _speed(_Z, -1.0),
        _slider(axis=_ALONG_Z, velocity_limit=0.2),
    ),
    "restitution": Bench(
        "a ball that meets a block with 3 m/s bounces [m/s]",
        (0.5, 3.0),
        _speed(_Z),
        _met(gap=0.06, speed=(0.0, -3.0), restitution=1.0),
    ),
    "contact_stiffness": Bench(
        "a contact of 400 N/m lets a ball of 1 m/s sink in by some centimetres [m]",
        (-0.1, -0.025),
        _moved(_Z),
        _met(speed=(0.0, -1.0), ke=400.0, kd=2.0),
    ),
    "friction_damping": Bench(
        "a contact with a damping of 3 N·s/m slows a ball that slides with 1 m/s by a quarter [m/s]",
        (0.65, 0.9),
        _speed(_X),
        _met(gap=-0.001, speed=(1.0, 0.0), kf=3.0),
    ),
    "adhesion": Bench(
        "a block holds a ball that leaves with 1.5 m/s and would rise by 0.1 m [m]",
        (-0.02, 0.05),
        _moved(_Z),
        _met(speed=(0.0, 1.5), ka=0.1, gap=0.001),
    ),
    "torsional_friction": Bench(
        "torsional friction of 0.02 m slows a ball that turns on the spot with 5 rad/s [rad/s]",
        (1.5, 4.2),
        _speed(_TURN_Z),
        _spun(spin=(0.0, 5.0), mu_torsional=0.02),
    ),
    "rolling_friction": Bench(
        "rolling friction of 0.05 m slows a ball that rolls with 1 m/s [m/s]",
        (0.4, 0.95),
        _speed(_X),
        _spun(spin=(10.0, 0.0), speed=1.0, mu_rolling=0.05),
    ),
    "limit_stiffness": Bench(
        "a limit of 100 N/m lets a slider of 1 m/s go some centimetres beyond [m]",
        (0.03, 0.12),
        _moved(_X),
        _slider(qd=1.0, limit_lower=-1.0, limit_upper=0.0, limit_ke=100.0, limit_kd=1.0),
    ),
}
"""The benches by feature."""

UNTRIED: Mapping[str, str] = {
    "rod_joints": "the kit has no rod",
    **dict.fromkeys(
        ("mimic_constraints", "equality_constraints", "inactive_equalities", "mujoco_tendons", "asset_actuators"),
        "only importers make them",
    ),
    "tendons": "the kit has no route for a tendon",
    "muscles": "the kit has no muscle",
    "particles": "`free_fall` tests them if the solver supports nothing else",
    **dict.fromkeys(("springs", "triangles", "bending", "tetrahedra"), "the kit's mechanisms are rigid"),
    "gradients": "they need a process of their own, and compiled backward kernels",
    "heterogeneous_worlds": "the kit's worlds are all alike",
    "gravity_compensation": "the runtime change `disable_gravities` tries it",
    "particle_worlds": "the check `particle_worlds` tests it",
}
"""Features without a bench, with the reasons."""


def measured(subject: PluginUnderTest, names: Sequence[str]) -> dict[str, float | Exception]:
    """Return the number that a solver gives on the bench of each feature, or the exception raised.

    All benches stand side by side in one simulation. If this fails, they are split into two simulations, and so on.
    """

    def scene(builder: newton.ModelBuilder) -> None:
        for index, name in enumerate(names):
            BENCHES[name].add(builder, name, 1.0 * (index + 1))

    if not names:
        return {}
    try:
        with subject.build(count=1, scene=scene, world_count=1) as simulation:
            before = _rows(simulation)
            step(simulation, round(DURATION / subject.dt))
            after = _rows(simulation)
    except Exception as error:  # a plugin may raise anything
        if len(names) == 1:
            return {names[0]: error}
        middle = len(names) // 2
        return measured(subject, names[:middle]) | measured(subject, names[middle:])
    return {name: BENCHES[name].measure(before[name], after[name]) for name in names}


def _rows(simulation: Simulation) -> dict[str, Rows]:
    """Return copies of poses and velocities of the bodies of each bench."""
    model, state = model_and_state(simulation)
    poses, velocities = state.body_q.numpy(), state.body_qd.numpy()
    owners = np.array([label.partition("/")[0] for label in model.body_label])
    return {name: (poses[owners == name].copy(), velocities[owners == name].copy()) for name in dict.fromkeys(owners)}
