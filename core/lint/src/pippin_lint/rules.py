"""Rules of the linter: each yields the findings of one kind."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import newton
import numpy as np
import pippin
import trimesh
from pippin.arrays import on_host
from pippin.assembly import build_poses, overlaps
from pippin.labels import name_of

from pippin_lint.findings import RobotFinding
from pippin_lint.source import Inertial, RobotSource, read_source

_TRIANGLE = 1e-3
"""Share of the largest moment by which it may exceed the sum of the others: digits of the file."""

_RADIUS = (0.02, 1.5)
"""Smallest and largest radius of gyration, as a share of the largest distance of the body's shapes from its centre."""

_RATIO = 100.0
"""Largest mass of a body beside that of the one that carries it."""

_HULL = 1.5
"""Largest volume of a hull beside that of its mesh."""

_DEPTH = 1e-3
"""Smallest overlap that is one [m]."""

_TURN = 4.0 * math.pi
"""Largest limit of a joint that turns [rad]."""

_SIZES, _MASSES = (0.01, 50.0), (1e-3, 1e4)
"""Sizes [m] and masses [kg] of robots."""

_MESHES = (newton.GeoType.MESH, newton.GeoType.CONVEX_MESH)


def lint(file: Path) -> list[RobotFinding]:
    """Return the findings of a robot file, in the order of its lines.

    Raises:
        ConfigError: There is no such file.
    """
    if not file.is_file():
        raise pippin.ConfigError(f"{file}: no such file; name an MJCF, URDF, xacro or USD file")
    source = read_source(file)
    found = [*_inertials(source), *_meshes(source), *_names(source)]
    with warnings.catch_warnings(record=True) as told, redirect_stdout(StringIO()):
        warnings.simplefilter("always")
        try:
            (contents,) = pippin.inspect(file)
            asset: dict[str, Any] = {"path": str(file.absolute())}
            if contents.format == "urdf":  # else links that overlap are parted
                asset["self_collisions"] = True
            model = build_poses(pippin.structure({"scene": {"assets": [asset]}}), 1).model
        except Exception as error:  # importers raise errors of any class
            if not any(each.level == "error" for each in found):
                found.append(_unreadable(str(error)))
            return sorted(found)
    for rule in (_joints, _motors, _units):
        found += rule(source, contents)
    for each in (_sizes, _ratios, _hulls, _overlaps):
        found += each(source, model)
    known = {each.rule for each in found}
    found += _imports(source, told, known)
    return sorted(set(found))


def _finding(
    source: RobotSource, rule: str, name: str, text: str, cure: str, *, what: str = "", level: str = "error"
) -> RobotFinding:
    place = f"{what or source.word} {name!r}"
    return RobotFinding(line=source.line_of(name), rule=rule, level=level, place=place, text=text, cure=cure)


def _unreadable(error: str) -> RobotFinding:
    text = " ".join(error.split())
    return RobotFinding(
        line=1,
        rule="unreadable",
        level="error",
        place="the file",
        text=text,
        cure="`pippin inspect FILE` tells the same",
    )


def _inertials(source: RobotSource) -> Iterator[RobotFinding]:
    """Masses and moments that no body has, as the file states them."""
    for each in source.inertials:
        low, middle, high = each.moments
        shown = ", ".join(f"{value:.3g}" for value in each.moments)
        if not each.mass > 0.0 and high > 0.0:
            cure = "write its mass, or leave the inertial out"
            yield _finding(source, "mass", each.name, f"mass {each.mass:g} kg", cure)
        elif low <= 0.0:
            cure = "write the moments of its shape, or leave the inertial out"
            yield _finding(
                source, "inertia", each.name, f"principal moments {shown} kg·m², and all must be above 0", cure
            )
        elif high > (low + middle) * (1.0 + _TRIANGLE):
            text = f"principal moments {shown} kg·m²: the largest is above the sum of the others, {low + middle:.3g}"
            cure = "look for a wrong digit or sign, or export the inertia anew"
            yield _finding(source, "inertia", each.name, text, cure)


def _meshes(source: RobotSource) -> Iterator[RobotFinding]:
    for path in dict.fromkeys(source.meshes):
        if not path.is_file():
            cure = "bring the file, or correct the path"
            yield _finding(source, "missing-mesh", path.name, f"no file {path}", cure, what="mesh")


def _names(source: RobotSource) -> Iterator[RobotFinding]:
    for name in source.repeated:
        yield _finding(source, "names", name, "two elements have this name", "rename one", what="name")


def _joints(source: RobotSource, contents: Any) -> Iterator[RobotFinding]:
    """Limits that leave nothing or are in degrees, and names with signs of patterns."""
    for joint in contents.joints:
        if re.search(r"[\s()\[\]{}|*+?^$\\]", joint.name):
            cure = "rename it: groups of actuators choose joints by patterns"
            text = "the name has a space or a sign of patterns"
            yield _finding(source, "names", joint.name, text, cure, what="joint", level="warning")
        if joint.lower is None or joint.upper is None:
            continue
        shown = f"limits {joint.lower:g} to {joint.upper:g}"
        if joint.lower >= joint.upper:
            cure = "make the lower limit the smaller one, or the joint a fixed one"
            yield _finding(source, "limits", joint.name, f"{shown} leave no motion", cure, what="joint")
        elif joint.type == "revolute" and max(abs(joint.lower), abs(joint.upper)) > _TURN:
            cure = "write radians (MJCF: compiler angle), or leave the limits out if it turns without end"
            text = f"{shown} rad are {(joint.upper - joint.lower) / math.tau:.3g} turns"
            yield _finding(source, "limits", joint.name, text, cure, what="joint", level="warning")


def _motors(source: RobotSource, contents: Any) -> Iterator[RobotFinding]:
    """Motors, or in a URDF joints that are not passive by their type, without a largest effort."""
    limited = {joint.name for joint in contents.joints if joint.effort_limit is not None}
    for motor in contents.actuators:
        is_limited = motor.effort_range is not None or (motor.type == "motor" and motor.control_range is not None)
        if not is_limited and motor.target not in limited:
            cure = "add forcerange, or ctrlrange of a motor, from its data sheet"
            text = f"drives {motor.target!r} without a largest effort"
            yield _finding(source, "no-effort-limit", motor.name, text, cure, what="actuator", level="warning")
    for joint in contents.joints if contents.format == "urdf" else ():
        if joint.name not in limited and joint.type in ("revolute", "prismatic"):
            cure = 'write <limit effort="…"/> from the data sheet of its motor'
            text = "no largest effort"
            yield _finding(source, "no-effort-limit", joint.name, text, cure, what="joint", level="warning")


def _units(source: RobotSource, contents: Any) -> Iterator[RobotFinding]:
    mass, (low, high) = contents.total_mass, _MASSES
    if mass > 0.0 and not low <= mass <= high:
        yield RobotFinding(
            line=1, rule="units", level="warning", place="the robot", text=f"mass {mass:g} kg", cure="write kilograms"
        )


def _extents(model: newton.Model) -> dict[int, tuple[float, float]]:
    """Return the largest distance of each body's shapes from its centre of mass, and from its frame [m]."""
    scale, types, bodies = (on_host(each) for each in (model.shape_scale, model.shape_type, model.shape_body))
    places, centres = on_host(model.shape_transform), on_host(model.body_com)
    found: dict[int, tuple[float, float]] = {}
    for shape, body in enumerate(bodies):
        if body < 0:
            continue
        mesh: Any = model.shape_source[shape]
        if types[shape] in _MESHES and mesh is not None:
            radius = float(np.linalg.norm(np.asarray(mesh.vertices) * scale[shape], axis=1).max())
        elif types[shape] == newton.GeoType.BOX:
            radius = float(np.linalg.norm(scale[shape]))
        else:
            radius = float(scale[shape][0] + scale[shape][1])
        reach = float(np.linalg.norm(places[shape][:3] - centres[body])) + radius
        size = float(np.linalg.norm(places[shape][:3])) + radius
        known = found.get(int(body), (0.0, 0.0))
        found[int(body)] = max(known[0], reach), max(known[1], size)
    return found


def _sizes(source: RobotSource, model: newton.Model) -> Iterator[RobotFinding]:
    """Radii of gyration that are far from the size of the shapes, and robots of another unit."""
    extents = _extents(model)
    size, (low, high) = max((each for _, each in extents.values()), default=1.0), _SIZES
    if not low <= size <= high:
        text = f"a shape reaches {size:g} m from its body"
        cure = 'write metres, or give the meshes a scale, such as "0.001 0.001 0.001"'
        yield RobotFinding(line=1, rule="units", level="warning", place="the robot", text=text, cure=cure)
        return
    for each in source.inertials:
        found = [body for body, label in enumerate(model.body_label) if name_of(label) == each.name]
        if found and found[0] in extents and each.mass > 0.0 and each.moments[0] > 0.0:
            yield from _radius(source, each, extents[found[0]][0])


def _radius(source: RobotSource, each: Inertial, reach: float) -> Iterator[RobotFinding]:
    smallest, largest = (math.sqrt(each.moments[index] / each.mass) for index in (0, 2))
    low, high = (share * reach for share in _RADIUS)
    if low <= largest <= high and smallest >= 0.1 * low:
        return
    text = (
        f"{each.mass:g} kg with moments up to {each.moments[2]:.3g} kg·m² has a radius of gyration of {largest:.3g} m,"
    )
    text += f" and its shapes reach {reach:.3g} m"
    cure = "write the moments in kg·m² about the centre of mass"
    yield _finding(source, "inertia-size", each.name, text, cure, level="warning")


def _ratios(source: RobotSource, model: newton.Model) -> Iterator[RobotFinding]:
    """Bodies that carry much heavier ones: solvers converge slowly, or need small steps."""
    masses, parents, children = (
        on_host(each).tolist() for each in (model.body_mass, model.joint_parent, model.joint_child)
    )
    for parent, child in zip(parents, children, strict=True):
        if parent >= 0 and masses[parent] > 0.0 and masses[child] > _RATIO * masses[parent]:
            text = f"{masses[child]:.3g} kg on {masses[parent]:.3g} kg of {name_of(model.body_label[parent])!r}"
            cure = "give the light body the mass of its motor, or join the two"
            yield _finding(source, "mass-ratio", name_of(model.body_label[child]), text, cure, level="warning")


def _hulls(source: RobotSource, model: newton.Model) -> Iterator[RobotFinding]:
    """Meshes that collide as their hulls, which fill holes and hollows; meshes with open edges have no volume."""
    flags, types = on_host(model.shape_flags), on_host(model.shape_type)
    known = set()
    for shape in np.flatnonzero((flags & int(newton.ShapeFlags.COLLIDE_SHAPES)) != 0):
        mesh: Any = model.shape_source[shape]
        if types[shape] not in _MESHES or mesh is None or id(mesh) in known:
            continue
        known.add(id(mesh))
        solid: Any = trimesh.Trimesh(np.asarray(mesh.vertices), np.asarray(mesh.indices).reshape(-1, 3))
        if solid.is_watertight and solid.volume > 0.0 and (ratio := solid.convex_hull.volume / solid.volume) > _HULL:
            text = f"the hull has {ratio:.3g} times the volume of the mesh"
            cure = "make parts of it, or boxes and capsules; convex_hulls = false of the asset keeps the triangles"
            name = name_of(model.body_label[on_host(model.shape_body)[shape]])
            yield _finding(source, "hull", name, text, cure, level="warning")


def _overlaps(source: RobotSource, model: newton.Model) -> Iterator[RobotFinding]:
    pipeline: Any = SimpleNamespace(pipeline=newton.CollisionPipeline(model))
    bodies = on_host(model.shape_body)
    for each in overlaps(model, None, pipeline):
        if each.is_own and each.depth > _DEPTH:
            first, second = (name_of(model.body_label[bodies[shape]]) for shape in each.shapes)
            text = f"overlaps with {second!r} by {1000.0 * each.depth:.3g} mm at the start"
            cure = "move the shapes or the start pose, or exclude the pair (self_collisions = false of the asset)"
            yield _finding(source, "overlap", first, text, cure, level="warning")


_TOLD = {"lower is above upper": "limits", "is not that of a body": "inertia", "effort = 0": "no-effort-limit"}
"""Rules of what importers say."""


def _imports(source: RobotSource, told: Sequence[warnings.WarningMessage], known: set[str]) -> Iterator[RobotFinding]:
    """What the importer says it reads otherwise, unless a rule has it."""
    for text in dict.fromkeys(" ".join(str(each.message).split()) for each in told):
        rule = next((rule for words, rule in _TOLD.items() if words in text), "import")
        if rule not in known:
            name = (re.findall(r"'([^']+)'", text) or [""])[-1]
            shown, cure = re.sub(r"^\S+: ", "", text), "write what is meant"
            yield _finding(source, rule, name, shown, cure, what="element", level="warning")
