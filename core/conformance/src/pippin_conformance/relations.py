"""Relations between motions that hold for any solver, also where no reference says how matter moves: matter that is
moved, turned with gravity, mirrored or added in another order moves as before.

Copies of each matter stand side by side. What may be left is the solver's own spread: how far copies
part that begin a millimetre from each other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.quaternions import rotated

from .kinds import merged
from .matter import add_panels
from .mechanisms import TUMBLING, add_shape, free
from .observation import model_and_state, step
from .plugin_under_test import PluginUnderTest
from .scenes import GRAVITY

_DURATION, _NOISE, _SHARE, _MOST = 0.2, 1e-3, 2.5, 0.1
"""Time in which matter falls on its floor, and rubs there [s]; the size of a change at the start [m]; and the largest
distance, in units of what such a change makes, and of the way."""

_APART, _FLOOR, _ARM = 2.5, 0.8, 0.1
"""Distance of two copies, half the width of a floor, and the distance of points of a body from its origin [m]."""

_FAR = (40.0, -30.0, 1.0)
"""Where a far neighbour begins to fall [m]; much farther, moments about the origin lose its inertia in rounding."""

_BODIES = 30
"""Largest number of bodies in a simulation: a step of a solver with dense matrices takes their square or cube."""

_NEEDS = {"kd": "springs", "tri_drag": "air_drag", "tri_lift": "air_drag", "k_damp": "tetrahedron_damping"}
"""Numbers that are left out for a solver without a feature."""


def _turn(*quaternion: float) -> np.ndarray:
    """Return the matrix of a rotation, given as a quaternion xyzw of any length."""
    return rotated(np.array(quaternion) / np.linalg.norm(quaternion), np.eye(3)).T


_LEAN = _turn(3.0, 4.0, 0.0, 40.0)
"""How floors lean: the matter on them leans, too."""


@attrs.frozen(kw_only=True, eq=False)
class Copy:
    """A copy of matter, and what is other than in the first one."""

    expectation: str = ""
    """What the copy is; for errors and the reference page."""

    shift: np.ndarray = attrs.field(factory=lambda: np.zeros(3), converter=np.array)
    turn: np.ndarray = attrs.field(factory=lambda: (0.0, 0.0, 0.0, 1.0), converter=lambda turn: _turn(*turn))
    is_mirrored: bool = False
    order: int = 1
    """-1 if it is added in the opposite order."""

    has_sites: bool = False
    is_alone: bool = False
    """Whether it stands in a simulation without the other copies, in several worlds."""

    has_neighbour: bool = False
    """Whether a body or a grain falls far away in the same world."""

    noise: int = 0
    """Seed of small changes at the start; 0 for none."""

    @property
    def own(self) -> np.ndarray:
        """What becomes of vectors of a body in its own axes: shapes are alike on both sides of their planes."""
        return np.diag([1.0, -1.0 if self.is_mirrored else 1.0, 1.0])

    @property
    def map(self) -> np.ndarray:
        """What becomes of vectors in the world's axes, without gravity."""
        return self.turn @ self.own


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MATTER: Mapping[str, Mapping[str, Any]] = _TABLES["matter"]
"""Matter by its name, as `relations.toml` explains it."""

RELATIONS: Mapping[str, Copy] = {name: Copy(**row) for name, row in _TABLES["relations"].items()}
"""The relations, by the names of their checks."""

_FIRST, _SPREAD = "first", {f"spread {seed}": Copy(noise=seed) for seed in (1, 2)}
_COPIES = {_FIRST: Copy(), **_SPREAD, **RELATIONS}
Piece = tuple[str, str]  # names of a matter and of a copy


def matter_for(features: Iterable[str]) -> list[str]:
    """Return the names of the matter that a solver with some features moves."""
    return [name for name, each in MATTER.items() if set(each["features"]) <= set(features)]


def errors_of_relations(subject: PluginUnderTest, matter: Collection[str] | None = None) -> dict[str, str]:
    """Return what is wrong with each relation, empty for one that holds, by default of all matter that it claims."""
    names = matter_for(subject.features or ()) if matter is None else matter
    beside = [copy for copy, each in _COPIES.items() if not each.is_alone]
    of_points = [name for name in names if "shapes" not in MATTER[name]]  # a step takes as long for many of them
    groups = [[(name, copy) for name in of_points for copy in beside]] if of_points else []
    for name in (name for name in names if name not in of_points):
        size = max(1, _BODIES // len(MATTER[name]["shapes"]))
        groups += [[(name, copy) for copy in beside[first : first + size]] for first in range(0, len(beside), size)]
    groups += [[(name, copy) for name in names] for copy, each in _COPIES.items() if each.is_alone and names]
    ways = {piece: way for group in groups for piece, way in _ends(subject, group).items()}
    return {relation: _first_fault(relation, names, ways) for relation in RELATIONS}


def _first_fault(relation: str, names: Iterable[str], ways: Mapping[Piece, Any]) -> str:
    for name in names:
        first, found = ways[name, _FIRST], ways[name, relation]
        if error := next((each for each in (first, found) if isinstance(each, Exception)), None):
            return f"{name} fails: {error}"
        spread = max(_apart(ways[name, each], first) for each in _SPREAD)
        allowed = min(_SHARE * spread, _MOST * float(np.linalg.norm(first, axis=-1).max()))
        if not (distance := _apart(found, first)) <= allowed:
            return (
                f"{name}: after {_DURATION} s, a point is {distance:.2g} m beside its place, and {allowed:.2g} m may be"
                f" left, as {_NOISE * 1e3:g} mm at the start makes {spread:.2g} m"
            )
    return ""


def _apart(one: Any, other: Any) -> float:
    return np.inf if isinstance(one, Exception) else float(np.linalg.norm(one - other, axis=-1).max())


def _ends(subject: PluginUnderTest, pieces: Sequence[Piece]) -> dict[Piece, Any]:
    """Return the ways of points of each piece, mapped back to those of the first one, or the exception raised.

    All pieces stand in one simulation. If this fails, they are split into two simulations, and so on.
    """
    features, rows = subject.features or {}, dict[Piece, slice]()
    has_points = any("points" in MATTER[name] for name, _ in pieces)

    def scene(builder: newton.ModelBuilder) -> None:
        for number, (matter, copy) in enumerate(pieces):
            first, count = builder.particle_count, len(pieces)
            row, column = number // 8 - count // 16, number % 8 - min(count, 8) // 2  # near the origin
            place = np.array([_APART * column, _APART * row, 1.0])
            _add(builder, MATTER[matter], _COPIES[copy], place, f"{matter} {copy}", features)
            rows[matter, copy] = slice(first, builder.particle_count)
        if any(_COPIES[copy].has_neighbour for _, copy in pieces):
            _add_neighbour(builder, features if has_points else set(features) - {"particles"})

    is_alone = _COPIES[pieces[0][1]].is_alone
    gravity = (_COPIES[pieces[0][1]].turn if is_alone else np.eye(3)) @ [0.0, 0.0, -GRAVITY]
    own = attrs.evolve(subject, tables=merged(subject.tables, {"scene": {"gravity": gravity.tolist()}}))
    worlds = None if is_alone and ("particle_worlds" in features or not has_points) else 1
    try:
        with own.build(count=1, scene=scene, is_on_ground=False, world_count=worlds) as simulation:
            before = _seen(simulation, rows)
            step(simulation, round(_DURATION / own.dt))
            simulation.raise_errors()  # of a buffer that is too small for so many contacts
            after = _seen(simulation, rows)
    except Exception as error:  # a plugin may raise anything
        if len(pieces) == 1:
            return {pieces[0]: error}
        middle = len(pieces) // 2
        return _ends(subject, pieces[:middle]) | _ends(subject, pieces[middle:])
    return {piece: after[piece] - before[piece] for piece in pieces}


def _add_neighbour(builder: Any, features: Collection[str]) -> None:
    x, y, z = _FAR
    if {"rigid_bodies", "free_joints"} <= set(features):
        free(builder, "far", y, x, z)
    if "particles" in features:
        builder.add_particle(wp.vec3(x, y, z), wp.vec3(), 0.1, radius=0.05)


def _seen(simulation: Any, rows: Mapping[Piece, slice]) -> dict[Piece, np.ndarray]:
    """Return particles and points of bodies, in the axes of the first copy [m], shape [worlds, points, 3]."""
    model, state = model_and_state(simulation)
    found, worlds = {}, simulation.world_count
    for piece, own in rows.items():
        copy, parts = _COPIES[piece[1]], []
        if model.particle_count:
            parts.append(on_host(state.particle_q).reshape(worlds, -1, 3)[:, own][:, :: copy.order].astype(float))
        for label in MATTER[piece[0]].get("shapes", ()):
            at = model.body_label.index(f"{piece[0]} {piece[1]}/{label}")
            poses = on_host(state.body_q).reshape(worlds, -1, 7)[:, at, None].astype(float)
            parts.append(poses[..., :3] + rotated(poses[..., 3:], _ARM * copy.own))
        found[piece] = np.concatenate(parts, axis=1) @ copy.map
    return found


def _add(builder: Any, matter: Any, copy: Copy, place: np.ndarray, label: str, features: Collection[str]) -> None:
    """Add a copy of matter, and its floor, at a place [m]."""
    place, floor = place + copy.shift, copy.map @ _LEAN
    cfg = newton.ModelBuilder.ShapeConfig(density=0.0, mu=0.4)
    pose: Any = wp.transform(wp.vec3(*(floor @ [0.0, 0.0, -0.1] + place)), _quaternion(floor @ copy.own))
    builder.add_shape_box(-1, xform=pose, hx=_FLOOR, hy=_FLOOR, hz=0.1, cfg=cfg)
    noise = (_NOISE if copy.noise else 0.0) * np.random.default_rng(copy.noise).normal(size=(20, 3))
    if "points" in matter:
        _add_points(builder, matter, copy, place, noise, features)
    speed, spin = copy.map @ matter["speed"], np.linalg.det(copy.map) * copy.map @ matter["spin"]
    drawn = np.random.default_rng(0).normal(size=(20, 4))
    shapes = zip(matter.get("shapes", {}).items(), drawn, noise, strict=False)
    for (kind, at), turn, shake in list(shapes)[:: copy.order]:
        x, y, z = floor @ (at + shake) + place
        body = free(
            *(builder, f"{label}/{kind}", y, x, z),
            turn=_quaternion(copy.map @ _turn(*turn) @ copy.own),
            qd=(*speed, *spin),
            inertia=wp.mat33(*(copy.own @ TUMBLING[0] @ copy.own).ravel()),
            com=tuple(copy.own @ [0.01, 0.02, -0.01]),
        )
        builder.body_label[body] = f"{label}/{kind}"
        add_shape(builder, body, kind, cfg)
        if copy.has_sites:
            builder.add_site(body)


def _quaternion(matrix: np.ndarray) -> Any:
    entries: Any = wp.mat33(*matrix.ravel())
    return wp.quat_from_matrix(entries)


def _add_points(builder: Any, matter: Any, copy: Copy, place: Any, noise: Any, features: Collection[str]) -> None:
    count, first, order = len(matter["points"]), builder.particle_count, slice(None, None, copy.order)
    points = np.array(matter["points"]) + noise[:count]
    speeds = (matter["speed"] + np.cross(matter["spin"], points - points.mean(axis=0))) @ copy.map.T
    places: list[Any] = [wp.vec3(*at) for at in (points @ (copy.map @ _LEAN).T + place)[order]]
    number = np.arange(count)[order]
    elements = {kind: number[np.array(rows)][order] for kind, rows in matter.get("elements", {}).items()}
    given = {
        kind: {name: value for name, value in row.items() if _NEEDS.get(name, "particles") in features}
        for kind, row in matter.get("numbers", {}).items()
    }
    is_of_panels = "triangle" in elements and "style3d:tri_aniso_ke" in builder.custom_attributes
    if is_of_panels:
        faces = elements["triangle"].ravel().tolist()
        add_panels(builder, places, points[order], faces, **given["edge"], **given["triangle"])
    else:
        builder.add_particles(places, [wp.vec3()] * count, [0.0] * count)
    for name in ("radius", "mass"):
        getattr(builder, f"particle_{name}")[first:] = [matter[name]] * count
    builder.particle_qd[first:] = [wp.vec3(*speed) for speed in speeds[order]]
    for kind, rows in () if is_of_panels else elements.items():
        is_inside_out = copy.is_mirrored and kind == "tetrahedron"
        for row in first + (rows[:, [1, 0, 2, 3]] if is_inside_out else rows):
            getattr(builder, f"add_{kind}")(*row.tolist(), **given[kind])
