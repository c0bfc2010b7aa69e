"""The benches of features: mechanisms, and what each measures."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.quaternions import product, rotated

from . import matter, mechanisms
from .mechanisms import INERTIA, LENGTH, MASS, X, Z, hinge, slider
from .scenes import GRAVITY

DURATION = 0.1
"""Time after which motions are measured [s]."""

_FALL = GRAVITY * DURATION**2 / 2
_TURN = MASS * GRAVITY * LENGTH / (INERTIA + MASS * LENGTH**2) * DURATION**2 / 2
"""Approximate angle by which a link turns about its hinge from the horizontal [rad]."""

_X, _Z, _TURN_Z = 0, 2, 5
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


def _followed(before: Rows, after: Rows) -> float:
    """Return the way of a slider, from its place of 0.1 m at the start, for each that another falls."""
    return float((after[0][-1, _X] - 0.1) / (after[0][0, _Z] - before[0][0, _Z]))


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
    share = 1.0 + INERTIA / (MASS * mechanisms.rolling_radius(kind) ** 2)
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


_NAMED: Mapping[str, tuple[str, Bounds, Measure]] = {
    "falls": (", in units of a free fall", (0.8, 1.2), _fallen),
    "stays": (", in units of a free fall and of a hinged link's turn", (0.0, 0.2), _fallen_or_turned),
    "turns": (" turns down [rad]", (0.7 * _TURN, 1.2 * _TURN), _turned),
    "stops": (" [rad]", (0.0, 0.4 * _TURN), _turned),
    "turned": ("", (0.0, 0.0), _turned),
    "carried": ("", (0.0, 0.0), _carried),
    "share": ("", (0.0, 0.0), _followed),
}
"""Measures by name: what follows their expectation, and their usual bounds."""

_FORCES = ("target_ke", "target_kd", "friction", "damping", "stiffness", "effort_limit", "limit_ke", "limit_kd")


def _both(name: str, row: Mapping[str, Any]) -> Iterator[tuple[str, Bench]]:
    """Yield the benches of a slider along x, and of a hinge about z that moves as it does.

    The hinge carries a hundredth of the inertia, and has a hundredth of the numbers. The controls have the neutral
    options in place of a bench's own.
    """
    both: Any = row["own"], {**row["own"], **row["neutral"]}
    small: Any = [{key: value / 100 if key in _FORCES else value for key, value in each.items()} for each in both]
    unit, measure = ("/s", _speed) if "speed" in row else ("", _moved)
    of_hinge = _speed(_TURN_Z, *row["bounds"]) if unit else (tuple(row["bounds"]), _turned_about_z)
    text = f"on a hinge, a hundredth of these numbers: {row['expectation']} [rad{unit}]"
    of_slider = measure(_X, *row["bounds"])
    yield name, Bench(f"{row['expectation']} [m{unit}]", *of_slider, *(slider(X, **each) for each in both))
    yield f"{name} of a hinge", Bench(text, *of_hinge, *(hinge(Z, **each) for each in small))


def _read(name: str, row: Mapping[str, Any]) -> Iterator[tuple[str, Bench]]:
    """Yield the bench of a row of `benches.toml`, or both."""
    if row.get("both"):
        yield from _both(name, row)
        return
    columns, shared = ["x", "y", "z", "turn x", "turn y", "turn z"], row.get("shared", {})
    mechanism, control = (_maker(row[key]) for key in ("mechanism", "control" if "control" in row else "mechanism"))
    pair = mechanism(**row["own"], **shared), control(**row["neutral"], **shared)
    text, bounds, measure = _NAMED.get(row.get("measure", ""), ("", (0.0, 0.0), _turned))
    if "moved" in row:
        where = {key: row[key] for key in ("sign", "row") if key in row}
        bounds, measure = _moved(columns.index(row["moved"]), *row["bounds"], **where)
    elif "speed" in row:
        axes = {"along": _ALONG, "ramp": _RAMP}.get(row.get("axes", "along" if row["mechanism"] == "met" else ""))
        bounds, measure = _speed(columns.index(row["speed"]), *row["bounds"], sign=row.get("sign", 1.0), axes=axes)
    elif "bounds" in row:
        bounds = row["bounds"][0], row["bounds"][1]
    yield name, Bench(row["expectation"] + text, bounds, measure, *pair, collision=row.get("collision", {}))


def _maker(name: str) -> Callable[..., mechanisms.Add]:
    return getattr(mechanisms if hasattr(mechanisms, name) else matter, name)


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
BENCHES: Mapping[str, Bench] = {
    **dict(each for name, row in _TABLES.items() for each in _read(name, row)),
    "rigid_bodies that tumble": Bench(
        "a body that turns about no principal axis turns by Euler's equations, but for an angle [rad]",
        (0.0, 0.03),
        _strayed,
        mechanisms.turning(mechanisms.TUMBLING[0]),
        mechanisms.turning(0.02 * np.eye(3)),
    ),
    **{
        f"rigid_contacts of a rolling {kind}": Bench(
            f"shapes `{kind}` roll down slopes that face four ways, in units of g sin(0.2) t / (1 + I / (m r²))",
            bounds,
            _rolled(kind),
            *(mechanisms.slid(kind, mu, 0.2) for mu in (1.0, 0.0)),
        )
        # A line of contacts that are springs, as those of Featherstone, pulls a cylinder to one side.
        for kind, bounds in {"sphere": (0.88, 1.12), "capsule": (0.88, 1.12), "cylinder": (0.78, 1.4)}.items()
    },
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
}
"""The benches by name; the first word is the feature."""


def benches_of(feature: str) -> Sequence[str]:
    """Return the names of the benches of a feature."""
    return [name for name in BENCHES if name.partition(" ")[0] == feature]


CHECKED_APART = ("body_variants", "different_meshes", "gradients", "gravity", "heterogeneous_worlds", "particle_worlds")
"""Features without a bench, each with a check of its own: of several worlds, or in a process of its own."""
