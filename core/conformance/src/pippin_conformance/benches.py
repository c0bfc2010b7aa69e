"""The benches of features: mechanisms, and what each measures."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.quaternions import product, rotated

from . import matter, mechanisms
from .mechanisms import BESIDE, INERTIA, LENGTH, MASS, NOWHERE, SLIDING, X, Y, Z, hinge, hung, imported, met, slider
from .scenes import GRAVITY

DURATION = 0.1
"""Time after which motions are measured [s]."""

_FALL = GRAVITY * DURATION**2 / 2
_TURN = MASS * GRAVITY * LENGTH / (INERTIA + MASS * LENGTH**2) * DURATION**2 / 2
"""Approximate angle by which a link turns about its hinge from the horizontal [rad]."""

_HALF_WAY = GRAVITY * DURATION / 2
"""Upward velocity of a body that is back where it was after `DURATION` [m/s]."""

_AFAR, _TINY = 1.0, 1e-3
"""A distance that nothing crosses [m], and a stiffness that does almost nothing."""

_COUPLING = 'joint joint1="{{label}}/slides" joint2="{{label}}/falls" polycoef="0.1 {factor}"'
"""Attributes of the equality of two sliders."""

_X, _Y, _Z, _TURN_Y, _TURN_Z = 0, 1, 2, 4, 5
"""Columns of velocities; the first three are columns of positions, too."""

Rows = tuple[np.ndarray, np.ndarray]
"""Poses and velocities of the bodies and then the particles of a bench, shapes [count, 7] and [count, 6]."""

Bounds = tuple[float, float]
"""The least and the largest number that a solver may give."""

Measure = Callable[[Rows, Rows], float]
"""Returns a number from the bodies before and after `DURATION`."""


@attrs.frozen
class Bench:
    """A mechanism that moves in one way with a feature, and in another way without the feature."""

    expectation: str
    """Meaning of the measured number, with its unit; for errors and the reference page."""

    bounds: Bounds
    """Bounds of the number: far from its value without the feature, and wide enough for any numerical method."""

    measure: Measure
    add: mechanisms.Add

    control: mechanisms.Add
    """The mechanism once more where the feature has nothing to do: it moves beside the first, beyond the bounds."""

    collision: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)
    """Keys of `[collision]`; benches with the same keys stand side by side."""


_ALONG, _RAMP = mechanisms.inclined()[1], mechanisms.inclined(0.4)[1]
"""Axes of level blocks, and of one that leans."""


def _moved(axis: int, least: float, most: float, sign: float = 1.0, row: int = -1) -> tuple[Bounds, Measure]:
    """Return bounds, and a function that measures the displacement of a body, or else a particle, along an axis [m]."""
    return (least, most), lambda before, after: sign * float(after[0][row, axis] - before[0][row, axis])


def _speed(axis: int, least: float, most: float, sign: float = 1.0, axes: Any = None) -> tuple[Bounds, Measure]:
    """Return bounds, and a function that measures a velocity of the last body along an axis [m/s, rad/s]."""
    own = np.eye(3) if axes is None else axes
    return (least, most), lambda before, after: sign * float(np.ravel(after[1][-1].reshape(2, 3) @ own.T)[axis])


def _angle(one: np.ndarray, other: np.ndarray) -> float:
    return 2.0 * float(np.arccos(min(abs(float(one @ other)), 1.0)))


def _turned(before: Rows, after: Rows) -> float:
    """Return the angle between the first and the last pose of the last body [rad]."""
    return _angle(before[0][-1, 3:], after[0][-1, 3:])


def _turned_about_z(before: Rows, after: Rows) -> float:
    """Return the angle by which the last body has turned about z [rad]."""
    return 2.0 * float(np.arctan2(after[0][-1, 5], after[0][-1, 6]) - np.arctan2(before[0][-1, 5], before[0][-1, 6]))


def _fallen(before: Rows, after: Rows) -> float:
    return float(before[0][-1, _Z] - after[0][-1, _Z]) / _FALL


def _fallen_or_turned(before: Rows, after: Rows) -> float:
    return max(abs(_fallen(before, after)), _turned(before, after) / _TURN)


def _share(offset: float) -> Measure:
    """Return a function that measures the way of a slider, from its place at the start, for each that another falls."""
    return lambda before, after: float((after[0][-1, _X] - offset) / (after[0][0, _Z] - before[0][0, _Z]))


def _carried(before: Rows, after: Rows) -> float:
    """Return the speed of what a belt carries [m/s]; infinite if the belt has moved."""
    return float(after[1][-1, :3] @ _ALONG[0]) if abs(after[0][0, _X] - before[0][0, _X]) < 0.001 else np.inf


def _slowed(before: Rows, after: Rows) -> float:
    """Return the share of Coulomb's friction of 0.3 that slows what slides on its side, of the body where it is least
    right; infinite if a body leaves its side or its height.
    """
    sides = np.stack([np.cos(mechanisms.SIDES), np.sin(mechanisms.SIDES)], axis=1)
    along = (after[1][:, :2] * sides).sum(axis=1)
    astray = np.abs(after[1][:, :2] - along[:, None] * sides).max()
    lifted = np.abs(after[0][:, _Z] - before[0][:, _Z]).max()
    shares = (1.0 - along) / (0.3 * GRAVITY * DURATION)
    return _least_right(shares) if max(astray / 10, lifted) < 0.02 else np.inf


def _rolled(kind: str) -> Measure:
    """Return a function that measures a speed down slopes in units of g sin(0.2) t / (1 + I / (m r²))."""
    share = 1.0 + INERTIA / (MASS * mechanisms.SHAPES[kind][0] ** 2)
    sides = np.stack([mechanisms.inclined(0.2, side)[1][0] for side in mechanisms.SIDES])
    units = sides * share / (GRAVITY * np.sin(0.2) * DURATION)
    return lambda before, after: _least_right((after[1][:, :3] * units).sum(axis=1))


def _least_right(shares: np.ndarray) -> float:
    return float(shares[np.abs(shares - 1.0).argmax()])


@functools.cache
def _tumbled() -> np.ndarray:
    (inertia, spin), turn = mechanisms.TUMBLING, np.array([0.0, 0.0, 0.0, 1.0])
    inverse, momentum = np.linalg.inv(inertia), inertia @ spin
    for _ in range(200):  # the first order suffices
        rotation = rotated(turn[..., None, :], np.eye(3)).swapaxes(-1, -2)
        spin = rotation @ inverse @ rotation.T @ momentum
        turn = product(np.append(spin * DURATION / 400, 1.0), turn)
        turn /= np.linalg.norm(turn)
    return turn


def _strayed(before: Rows, after: Rows) -> float:
    """Return the angle between the tumbling body and Euler's equations [rad]."""
    return _angle(after[0][-1, 3:], _tumbled())


def _pair(
    make: Callable[..., mechanisms.Add],
    own: Mapping[str, Any],
    neutral: Mapping[str, Any],
    *shared: Any,
    **options: Any,
) -> tuple[mechanisms.Add, mechanisms.Add]:
    return make(*shared, **options, **own), make(*shared, **options, **neutral)


def _falls(expectation: str, add: Any, control: Any, bounds: Bounds = (0.8, 1.2)) -> Bench:
    return Bench(f"{expectation}, in units of a free fall", bounds, _fallen, add, control)


def _stays(expectation: str, add: Any, control: Any) -> Bench:
    text = f"{expectation}, in units of a free fall and of a hinged link's turn"
    return Bench(text, (0.0, 0.2), _fallen_or_turned, add, control)


def _turns(expectation: str, add: Any, control: Any) -> Bench:
    return Bench(f"{expectation} turns down [rad]", (0.7 * _TURN, 1.2 * _TURN), _turned, add, control)


def _stops(expectation: str, add: Any, control: Any) -> Bench:
    return Bench(f"a limit of 0.03 rad stops {expectation} [rad]", (0.0, 0.4 * _TURN), _turned, add, control)


_FORCES = ("target_ke", "target_kd", "friction", "damping", "stiffness", "effort_limit", "limit_ke", "limit_kd")


def _both(
    feature: str,
    expectation: str,
    bounds: Bounds,
    own: Mapping[str, float],
    neutral: Mapping[str, float] | None = None,
    is_speed: bool = False,
) -> dict[str, Bench]:
    """Return the benches of a slider along x, and of a hinge about z that moves as it does.

    The hinge carries a hundredth of the inertia, and has a hundredth of the numbers. The controls have the neutral
    options in place of a bench's own; by default zeros for forces.
    """
    both: Any = own, {**own, **({key: 0.0 for key in own if key in _FORCES} if neutral is None else neutral)}
    small: Any = [{key: value / 100 if key in _FORCES else value for key, value in each.items()} for each in both]
    unit, of_slider = ("/s", _speed(_X, *bounds)) if is_speed else ("", _moved(_X, *bounds))
    of_hinge = _speed(_TURN_Z, *bounds) if is_speed else (bounds, _turned_about_z)
    text = f"on a hinge, a hundredth of these numbers: {expectation} [rad{unit}]"
    return {
        feature: Bench(f"{expectation} [m{unit}]", *of_slider, *(slider(X, **each) for each in both)),
        f"{feature} of a hinge": Bench(text, *of_hinge, *(hinge(Z, **each) for each in small)),
    }


def _equality(attributes: str) -> str:
    return f"<equality><{attributes}/></equality>"


def _read(row: Mapping[str, Any]) -> Bench:
    """Return a bench of `benches.toml`."""
    name, columns = row["mechanism"], ["x", "y", "z", "turn x", "turn y", "turn z"]
    measure, axes = (_moved, {}) if "moved" in row else (_speed, {"axes": _ALONG if name == "met" else None})
    column = columns.index(row.get("moved") or row["speed"])
    pair = _pair(getattr(matter, name, met), row["own"], row["neutral"], **row.get("shared", {}))
    measured = measure(column, *row["bounds"], **axes)
    return Bench(row["expectation"], *measured, *pair, collision=row.get("collision", {}))


_TABLES = Path(__file__).with_suffix(".toml")
BENCHES: Mapping[str, Bench] = {
    "rigid_bodies": _falls("a free body falls", mechanisms.thrown(0.0), mechanisms.thrown(_HALF_WAY)),
    "rigid_bodies that tumble": Bench(
        "a body that turns about no principal axis turns by Euler's equations, but for an angle [rad]",
        (0.0, 0.03),
        _strayed,
        mechanisms.turning(mechanisms.TUMBLING[0]),
        mechanisms.turning(0.02 * np.eye(3)),
    ),
    "kinematic_bodies": Bench(
        "a block that is a kinematic body stays, and carries a box with its velocity of 0.5 m/s [m/s]",
        (0.35, 0.7),
        _carried,
        *_pair(met, {"belt": 0.5}, {"belt": 0.0}, is_box=True, mu=1.0, gap=-0.001),
    ),
    "free_joints": _falls("a body with a free joint falls", mechanisms.thrown(0.0), mechanisms.thrown(_HALF_WAY)),
    "rigid_contacts": _stays("the ground carries a ball", mechanisms.ball(0.0999), mechanisms.ball(_AFAR)),
    **{
        f"rigid_contacts with {word} friction": Bench(
            f"friction of {mu:g} slows a box that slides with 1 m/s [m/s]",
            *_speed(_X, *bounds, axes=_ALONG),
            *_pair(met, {"mu": mu}, {"mu": other}, is_box=True, speed=(1.0, 0.0)),
        )
        for word, mu, other, bounds in (("much", 0.5, 0.1, (0.4, 0.7)), ("little", 0.1, 0.5, (0.85, 0.95)))
    },
    "rigid_contacts that tip": Bench(
        "a tall box that stands on an edge tips over [rad/s]",
        *_speed(_TURN_Y, 0.4, 1.8, axes=_ALONG),
        *map(mechanisms.leaning, (0.5, 0.0)),
    ),
    "rigid_contacts that fall back": Bench(
        "a tall box that leans on an edge by half of what tips it over falls back [rad/s]",
        *_speed(_TURN_Y, 0.2, 0.9, -1.0, _ALONG),
        *map(mechanisms.leaning, (0.12, 0.5)),
    ),
    "rigid_contacts of a small ball": _stays(
        "the ground carries a ball of 1 cm", mechanisms.ball(0.00999, 0.01), mechanisms.ball(_AFAR, 0.01)
    ),
    **{
        f"rigid_contacts of a rolling {kind}": Bench(
            f"shapes `{kind}` roll down slopes that face four ways, in units of g sin(0.2) t / (1 + I / (m r²))",
            (0.88, 1.12),
            _rolled(kind),
            *(mechanisms.slid(kind, mu, 0.2) for mu in (1.0, 0.0)),
        )
        for kind in ("sphere", "capsule")
    },
    "rigid_contacts of bodies": Bench(
        "a ball of 2 m/s strikes an equal one, which moves on [m/s]",
        *_speed(_X, 0.5, 2.2),
        *map(mechanisms.struck, (0.01, _AFAR)),
    ),
    **{
        f"rigid_contacts of {kind}": Bench(
            f"friction of 0.3 slows shapes `{kind}` on a block, whichever way they slide, in units of"
            " Coulomb's friction",
            (0.55, 1.3),
            _slowed,
            *map(functools.partial(mechanisms.slid, kind), (0.3, 0.02)),
        )
        for kind in mechanisms.SHAPES
    },
    "fixed_joints": _stays("a fixed joint holds a body", hung("fixed", **BESIDE), mechanisms.thrown(0.0)),
    "revolute_joints": _turns("a hinged link", hinge(**BESIDE), hinge()),
    "ball_joints": _turns("a link on a ball joint", hung("ball", **BESIDE), hung("ball")),
    "prismatic_joints": _falls("an upright slider falls", slider(Z, **BESIDE), slider(X, **BESIDE)),
    "prismatic_joints across": _stays("a level slider holds a body", slider(X, **BESIDE), slider(Z, **BESIDE)),
    "d6_joints": _falls(
        "a joint with axes x and z lets a body fall", mechanisms.jointed(X, Z), mechanisms.jointed(X, Y)
    ),
    "d6_joints across": _stays(
        "a joint with axes x and y holds a body", mechanisms.jointed(X, Y), mechanisms.jointed(X, Z)
    ),
    "distance_joints": Bench(
        "a tether of 0.02 m stops a fall of 0.05 m [m]",
        *_moved(_Z, 0.01, 0.03, -1.0),
        *_pair(hung, {"max_distance": 0.02}, {"max_distance": _AFAR}, "distance", min_distance=-1.0),
    ),
    "loop_joints": Bench(
        "a joint that closes a loop holds a link [rad]",
        (-0.1 * _TURN, 0.2 * _TURN),
        _turned,
        mechanisms.pinned,
        mechanisms.linked,
    ),
    "disabled_joints": _falls(
        "a disabled joint lets a body fall", hung("fixed", enabled=False), hung("fixed", enabled=True)
    ),
    "light_links": _turns(
        "a link behind a hinge and a link of 1e-9 kg", mechanisms.gimbal(BESIDE["com"]), mechanisms.gimbal(NOWHERE)
    ),
    "joint_limits": _stops("a link", hinge(limit_lower=-2.0, limit_upper=0.03, **BESIDE), hinge(**BESIDE)),
    "joint_limits below": _stops(
        "a link that turns down the other way",
        *_pair(hinge, {"limit_lower": -0.03, "limit_upper": 2.0}, {}, (0.0, -1.0, 0.0), **BESIDE),
    ),
    **{
        f"joint_limits of a slider{where}": Bench(
            f"a limit of {at:g} m stops a slider of {qd:g} m/s [m]",
            *_moved(_X, -0.06, 0.06),
            *_pair(slider, {"limit_lower": min(at, -sign), "limit_upper": max(at, -sign)}, {}, qd=qd),
        )
        for where, at, qd, sign in (("", 0.03, 1.0, 1.0), (" below", -0.03, -1.0, -1.0))
    },
    "ball_limits": _stops(
        "a ball joint", mechanisms.passive(3, limit_upper=0.03, limit_lower=0), hung("ball", **BESIDE)
    ),
    **_both(
        "joint_drives",
        "a drive of 100 N/m pulls a slider to 0.1 m",
        (0.02, 0.08),
        {"target_q": 0.1, "target_ke": 100.0},
        {"target_q": 0.0},
    ),
    **_both(
        "joint_drives by velocity",
        "a drive of 10 N·s/m pulls a slider to 1 m/s",
        (0.3, 0.8),
        {"target_qd": 1.0, "target_kd": 10.0},
        {"target_qd": 0.0},
        is_speed=True,
    ),
    "massless_bodies": _falls(
        "a free body and a frame without mass fall", mechanisms.framed(0.0), mechanisms.framed(_HALF_WAY)
    ),
    "mimic_joints": Bench(
        "a slider that follows a falling one moves twice as far, from 0.1 m",
        (1.6, 2.4),
        _share(0.1),
        mechanisms.mimic(2.0, 0.1),
        mechanisms.mimic(1.0, 0.1),
    ),
    "armature": _falls(
        "armature equal to its mass halves a slider's fall", slider(Z, armature=MASS), slider(Z), (0.4, 0.6)
    ),
    "armature of a hinge": Bench(
        "armature equal to its inertia halves a hinged link's turn [rad]",
        (0.4 * _TURN, 0.6 * _TURN),
        _turned,
        *_pair(hinge, {"armature": INERTIA + MASS * LENGTH**2}, {}, **BESIDE),
    ),
    **_both(
        "joint_friction",
        "friction of 5 N slows a slider from 1 m/s",
        (0.3, 0.7),
        {"qd": 1.0, "friction": 5.0},
        is_speed=True,
    ),
    **_both(
        "joint_damping",
        "damping of 10 N·s/m slows a slider from 1 m/s",
        (0.2, 0.6),
        {"qd": 1.0, "damping": 10.0},
        is_speed=True,
    ),
    **_both(
        "joint_stiffness",
        "a spring of 100 N/m pulls a slider from 0.1 m",
        (-0.07, -0.025),
        {"q": 0.1, "stiffness": 100.0},
    ),
    "ball_drives": _stays(
        "a drive holds a link", mechanisms.passive(3, target_ke=100.0, target_kd=10.0), hung("ball", **BESIDE)
    ),
    "ball_stiffness": _stays("a spring holds a link", mechanisms.passive(3, stiffness=100.0), hung("ball", **BESIDE)),
    "free_damping": _stays("damping slows a fall", mechanisms.passive(6, damping=100.0), mechanisms.thrown(0.0)),
    "free_joint_forces": _stays("friction holds a body", mechanisms.passive(6, friction=20.0), mechanisms.thrown(0.0)),
    **_both(
        "effort_limits",
        "a drive held to 1 N moves a slider by t²/2 N/kg",
        (0.002, 0.01),
        {"target_q": 1.0, "target_ke": 1000.0, "effort_limit": 1.0},
        {"effort_limit": 1000.0},
    ),
    "carried_sliders": Bench(
        "a body of 1 kg that slides out on a rod slows its turn from 8 rad/s [rad/s]",
        *_speed(_TURN_Z, 4.8, 6.4),
        *map(mechanisms.bead, (0.3, 0.0)),
    ),
    "velocity_limits": Bench(
        "a limit of 0.2 m/s holds back a falling slider [m/s]",
        *_speed(_Z, 0.1, 0.4, -1.0),
        *_pair(slider, {"velocity_limit": 0.2}, {}, Z),
    ),
    "velocity_limits of a hinge": Bench(
        "a limit of 0.2 rad/s holds back a link that turns down [rad/s]",
        *_speed(_TURN_Y, 0.1, 0.4),
        *_pair(hinge, {"velocity_limit": 0.2}, {}, **BESIDE),
    ),
    **{
        f"restitution of {value:g}": Bench(
            f"a ball with restitution {value:g} that meets a slope with 3 m/s bounces [m/s]",
            *_speed(_Z, *bounds, axes=_RAMP),
            *_pair(met, {"restitution": value}, {"restitution": 0.0}, gap=0.06, speed=(0.0, -3.0), lean=0.4),
        )
        for value, bounds in ((1.0, (1.8, 2.8)), (0.5, (0.4, 1.3)))
    },
    **_both(
        "limit_stiffness",
        "a limit of 400 N/m and 20 N·s/m brings back a slider of 1 m/s from beyond to 2 cm",
        (0.014, 0.029),
        {"qd": 1.0, "limit_lower": -1.0, "limit_upper": 0.0, "limit_ke": 400.0, "limit_kd": 20.0},
        {"limit_upper": 1.0},
    ),
    "mimic_constraints": Bench(
        "a slider that a constraint lets follow the falling one under it moves twice as far, from 0.1 m",
        (1.6, 2.4),
        _share(0.1),
        *(imported(mechanisms.CARRYING, _equality(_COUPLING.format(factor=factor)), q=0.1) for factor in (2, 1)),
    ),
    "equality_constraints": _stays(
        "a slider that an equality of its joint locks falls by at most a fifth",
        imported(mechanisms.FALLING, _equality('joint joint1="{label}/falls" polycoef="0"')),
        imported(mechanisms.FALLING),
    ),
    "inactive_equalities": _falls(
        "a slider falls although a connection that is switched off ties it to another",
        imported(
            SLIDING + mechanisms.FALLING,
            _equality('connect body1="{label}/1" body2="{label}/2" anchor="0 0 0" active="false"'),
        ),
        imported(mechanisms.FALLING + SLIDING),
    ),
    "mujoco_tendons": Bench(
        "a tendon of 100 N/m and a length of 0.1 m at rest pulls a slider [m]",
        *_moved(_X, 0.02, 0.08),
        imported(
            SLIDING,
            '<tendon><fixed stiffness="100" springlength="0.1"><joint joint="{label}/slides" coef="1"/></fixed>'
            "</tendon>",
        ),
        imported(SLIDING),
    ),
    "asset_actuators": Bench(
        "an actuator of the asset's own pushes a slider of 1 kg with 10 N [m]",
        *_moved(_X, 0.035, 0.065),
        imported(SLIDING, '<actuator><general joint="{label}/slides" biastype="affine" biasprm="10"/></actuator>'),
        imported(SLIDING),
    ),
    "gravity_compensation": _stays(
        "a free body on which gravity does not act falls by at most a fifth",
        mechanisms.weightless,
        mechanisms.thrown(0.0),
    ),
    # Of particles, some with the table of `[collision]` that they need:
    "particles": _falls("a particle falls", matter.thrown(0.0), matter.thrown(_HALF_WAY)),
    **{
        f"attachments{of}": Bench(
            f"{what} hangs by an attachment of 1000 N/m, and falls by up to 2 m g / k [m]",
            *_moved(_Z, 0.008, 0.03, -1.0, row),
            add(1000.0),
            add(None),
        )
        for of, what, row, add in (
            ("", "a particle", -1, matter.hanging_particle),
            (" of bodies", "a body", 0, matter.hanging_body),
        )
    },
    "muscles": Bench(
        "a muscle with an activation of 10 N pulls a slider of 1 kg towards another one [m]",
        *_moved(_X, -0.07, -0.035),
        *map(matter.pulled, (10.0, 0.0)),
    ),
    "particle_contacts": Bench(
        "a particle of 1 m/s that meets a wall of others, which stay, is held up before 0.1 m [m]",
        *_moved(_X, -0.09, 0.15),
        *map(matter.met_wall, (0.0, _AFAR)),
    ),
    "face_contacts": Bench(
        "a small triangle of 0.3 m/s that meets a large one, which stays, does not pass it, or rebounds [m]",
        *_moved(_Z, -0.035, 5.0),  # Newton's own margin for `vbd`, 0.2 m, throws it up
        *map(matter.over_face, (0.02, _AFAR)),
    ),
    "rod_joints": Bench(
        "a joint of 13.3 N·m/rad holds a level segment, which turns by up to m g l / k [rad]",
        (0.06, 0.22),
        _turned,
        *_pair(matter.rod, {"bend_stiffness": 13.3}, {"bend_stiffness": _TINY}, is_level=True),
    ),
    "rod_joints that stretch": Bench(
        "a joint of 1000 N/m holds a hanging segment, which falls by up to 2 m g / k [m]",
        *_moved(_Z, 0.008, 0.03, -1.0),
        *_pair(matter.rod, {"stretch_stiffness": 1000.0}, {"stretch_stiffness": _TINY}, is_level=False),
    ),
    "tendons": Bench(
        "over a roller with friction 0.15, 2 kg pull up 1 kg with g (2 - r) / (2 + r), r = exp(0.15 π) [m]",
        *_moved(_Z, 0.0035, 0.0075, -1.0),
        *map(matter.atwood, (0.15, 0.0)),
    ),
    **{name: _read(row) for name, row in tomllib.loads(_TABLES.read_text(encoding="utf-8")).items()},
}
"""The benches by name; the first word is the feature."""


def benches_of(feature: str) -> Sequence[str]:
    """Return the names of the benches of a feature."""
    return [name for name in BENCHES if name.partition(" ")[0] == feature]


CHECKED_APART = ("gradients", "gravity", "heterogeneous_worlds", "particle_worlds")
"""Features without a bench, each with a check of its own: of several worlds, or in a process of its own."""
