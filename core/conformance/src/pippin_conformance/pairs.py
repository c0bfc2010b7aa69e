"""Pairs of shapes: a body of each kind of shape that lies on each kind, on a slope.

A solver may have hard or soft contacts: what they gave in a while is the change of momentum beside gravity, and says
along which line it acted, however stiff they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from newton import ModelBuilder
from pippin import ConfigError
from pippin.arrays import on_host

from .mechanisms import INERTIA, MASS, SHAPES, add_shape, free, inclined
from .observation import model_and_state, step
from .plugin_under_test import PluginUnderTest
from .scenes import GRAVITY

MOVING = {**{kind: height for kind, (height, _) in SHAPES.items()}, "capsule": 0.16, "mesh": 0.06}
"""Height of the centre of each kind above its lowest point [m]; a capsule stands, and a cone on its tip."""

SUPPORTS = (*MOVING, "plane", "heightfield")

WRONG: Mapping[str, str] = {
    "mesh on mesh": "normals at the edges of two meshes lie along their faces",
    "cone on ellipsoid": "the normal of a tip on an ellipsoid may be a zero vector",
}
"""Pairs that Newton's own contacts get wrong, which no solver that takes them can correct."""

_ROUND = ("sphere", "capsule", "ellipsoid")
_LEAN, _TIME, _BESIDE = 0.2, 0.1, np.array([0.012, 0.016, 0.0])
"""Angle of the slope [rad], the time of a trial [s], and the centre of mass from that of the shape [m]."""

_ACROSS, _SUNK, _LIFTED, _ASTRAY = 0.12, 0.02, 0.01, 0.6
"""Largest force across the normal, in units of that along it; largest ways into it and out of it [m]; and largest
torque beside that of the place of the contact, in units of the weight by `_BESIDE`."""


@attrs.frozen(kw_only=True)
class PairResult:
    """Answer of a solver to a pair of shapes."""

    refusal: str = ""
    """Text of the error by which it refuses the pair."""

    fault: str = ""
    """What is wrong; empty if all is right."""


def results_of_pairs(subject: PluginUnderTest) -> dict[str, PairResult]:
    """Return what a solver does with each kind of shape on each other one, by names such as `box on plane`."""
    features = subject.features or {}
    if not {"rigid_contacts", "free_joints"} <= features.keys():
        return {}
    wrong = {} if subject.declaration.detects_contacts else WRONG
    found = {pair: PairResult(refusal=f"of Newton's contacts, {text}") for pair, text in wrong.items()}
    for name in (name for name in SUPPORTS if subject.asks("pair", name)):
        kinds = [kind for kind in MOVING if f"{kind} on {name}" not in wrong]
        found |= {f"{kind} on {name}": each for kind, each in _tried(subject, name, kinds).items()}
    return found


def _tried(subject: PluginUnderTest, support: str, kinds: Sequence[str]) -> dict[str, PairResult]:
    """Let shapes lie on one kind each, side by side; if this fails, in two simulations, and so on."""

    def scene(builder: ModelBuilder) -> None:
        for number, kind in enumerate(kinds):
            _add(builder, support, kind, number)

    try:
        with subject.build(count=1, scene=scene, world_count=1, is_on_ground=False) as simulation:
            _, state = model_and_state(simulation)
            before = on_host(state.body_q).astype(float)
            step(simulation, round(_TIME / subject.dt))
            simulation.raise_errors()
            after, speeds = on_host(state.body_q).astype(float), on_host(state.body_qd).astype(float)
    except Exception as error:  # a plugin may raise anything
        if len(kinds) == 1:
            is_refused = isinstance(error, ConfigError)
            return {kinds[0]: PairResult(refusal=str(error)) if is_refused else PairResult(fault=f"fails: {error}")}
        middle = len(kinds) // 2
        return _tried(subject, support, kinds[:middle]) | _tried(subject, support, kinds[middle:])
    rows = zip(after[:, :3] - before[:, :3], speeds, strict=True)
    return {
        kind: PairResult(fault=_fault(support, kind, number, *row))
        for number, (kind, row) in enumerate(zip(kinds, rows, strict=True))
    }


def _side(support: str, number: int) -> float:
    """Return the side to which a slope falls off; a plane has one [rad]."""
    return 0.35 + (0.0 if support == "plane" else 0.9 * number)


def _add(builder: ModelBuilder, support: str, kind: str, number: int) -> None:
    """Add a body on a support of its own, or on the one plane that all share."""
    turn, axes = inclined(_LEAN, _side(support, number))
    top = axes.T @ [1.2 * (number - 3.5), 0.0, 0.0] if support == "plane" else np.array([1.2 * number, 0.0, 0.5])
    cfg = ModelBuilder.ShapeConfig(density=0.0, mu=0.0)
    place, over = top + MOVING[kind] * axes[2], (wp.quat_identity(), wp.quat(1.0, 0.0, 0.0, 0.0))
    tip = wp.transform(wp.vec3(), over[kind == "cone"])  # which stands on its tip, or has its base above
    body = free(builder, kind, place[1], place[0], place[2], turn=turn, com=tuple(_BESIDE))
    _add_shape(builder, body, kind, cfg, xform=tip)
    if support in MOVING:
        below = top - MOVING[support] * axes[2]
        askew = turn * wp.quat(0.0, 0.0, math.sin(0.2), math.cos(0.2)) * over[support == "cone"]
        _add_shape(builder, -1, support, cfg, xform=wp.transform(wp.vec3(*below), askew))
    elif support == "heightfield":
        inside = top + axes.T @ [0.03, 0.05, 0.0]  # what lies on it meets it within a triangle
        field = newton.Heightfield(np.zeros((6, 6)), 6, 6, hx=0.43, hy=0.41, min_z=0.0, max_z=0.1)
        builder.add_shape_heightfield(xform=wp.transform(wp.vec3(*inside), turn), heightfield=field, cfg=cfg)
    elif number == 0:
        builder.add_shape_plane(None, xform=wp.transform(wp.vec3(), turn), width=0.0, length=0.0, cfg=cfg)


def _add_shape(builder: ModelBuilder, body: int, kind: str, cfg: Any, *, xform: Any) -> None:
    if kind == "mesh":
        builder.add_shape_mesh(body, xform=xform, mesh=newton.Mesh.create_box(0.1, 0.08, 0.06), cfg=cfg)
    else:
        add_shape(builder, body, kind, cfg, xform=xform)


def _numbers(support: str, kind: str, number: int, way: np.ndarray, speed: np.ndarray) -> Mapping[str, float]:
    """Return what a contact did to a body, in units that are 1 or 0 where it is right."""
    normal, beside = (axes := inclined(_LEAN, _side(support, number))[1])[2], _BESIDE @ axes
    impulse = MASS * speed[:3] + [0.0, 0.0, MASS * GRAVITY * _TIME]
    push, weight = float(impulse @ normal), MASS * GRAVITY * _TIME * math.cos(_LEAN)
    is_of_point = kind == "cone" or {kind, support} & {*_ROUND}
    twist = INERTIA * speed[3:] + np.cross(beside, impulse) * bool(is_of_point)
    return {
        "push": push / weight,
        "across": float(np.linalg.norm(impulse - push * normal)) / max(abs(push), 1e-6),
        "way": float(way @ normal),
        "astray": float(np.linalg.norm(twist)) / (weight * float(np.linalg.norm(_BESIDE))),
    }


def _fault(support: str, kind: str, number: int, way: np.ndarray, speed: np.ndarray) -> str:
    found = _numbers(support, kind, number, way, speed)
    if not 0.6 <= found["push"] <= 1.4:
        return f"in {_TIME:g} s, the contact gave {found['push']:.3g} of what carries the weight, expected 0.6 to 1.4"
    if not -_SUNK <= found["way"] <= _LIFTED:
        return f"in {_TIME:g} s, it moved by {found['way']:.3g} m along the normal, expected {-_SUNK} to {_LIFTED}"
    if not found["across"] <= _ACROSS:
        return f"without friction, {found['across']:.3g} of the force is across the normal, expected at most {_ACROSS}"
    if not found["astray"] <= _ASTRAY:
        return (
            f"the torque is {found['astray']:.3g} of the weight by the distance of the centre of mass from that of the"
            f" shape beside what the place of the contact gives, expected at most {_ASTRAY}"
        )
    return ""
