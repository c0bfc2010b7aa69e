"""Random USD stages: trees of bodies, and the same in MJCF."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import mujoco
import numpy as np

from .files import RandomFile
from .tapes import Tape
from .trees import (
    HERE,
    Pose,
    TreeAxis,
    TreeDraw,
    TreeLink,
    about,
    chain,
    inertial,
    inverse,
    mass_of,
    numbers,
    reference,
    tensor,
    turned,
)

RARE = (
    *("armature", "ball", "body density", "body mass", "collider density", "collider mass", "d6", "d6 free"),
    *("damping", "deep", "default gravity", "disabled", "drive", "free", "friction", "gravcomp", "group", "inactive"),
    *("instance", "kinematic", "loose", "material density", "max force", "mimic", "mismatch", "near", "off"),
    *("own shape", "root", "root scale", "scale", "shape mass", "spring", "state", "static parent", "swapped"),
    *("up axis", "velocity"),
)
"""Statements of which a stage makes two at most."""

LATER = ("combine mode", "parted", "physx mimic", "units", "acceleration")
"""Statements that came later, of which it makes one at most."""

DEGREE = math.pi / 180.0

Y_UP: Pose = (np.zeros(3), about([1, 0, 0], math.pi / 2))
"""The pose in a scene of a stage whose y points up."""

_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

_AXES = {"X": np.array([1.0, 0, 0]), "Y": np.array([0, 1.0, 0]), "Z": np.array([0, 0, 1.0])}


@attrs.define
class _Stage:
    draw: TreeDraw
    has_contacts: bool = False
    links: list[TreeLink] = attrs.field(factory=list)
    paths: list[str] = attrs.field(factory=list)
    """Prim of each body."""

    poses: list[Pose] = attrs.field(factory=list)
    """Where the stage puts the bodies, in its own axes."""

    bodies: list[str] = attrs.field(factory=list)
    joints: list[str] = attrs.field(factory=list)
    own_scales: dict[str, np.ndarray] = attrs.field(factory=dict)
    """Scales of bodies that are shapes themselves, by prim."""

    more: list[str] = attrs.field(factory=list)
    """Actuators and equalities of the reference."""

    materials: str = ""
    followed: list[TreeAxis] = attrs.field(factory=list)
    scale: float = 1.0
    """Scale of the prim that holds all bodies: lengths of prims below it are divided by it."""

    origin: Pose = HERE
    """Pose of the prim that holds all bodies."""

    root: str = "robot"
    units: Sequence[float] = (1.0, 1.0)
    """Units of length [m] and mass [kg] of the numbers of the stage, which are those of the reference, too."""


def draw(seed: int, without: frozenset[str] = frozenset(), tape: Tape | None = None) -> RandomFile:
    """Return the USD stage of a seed, whose statements do not use the words left out; it states its own start."""
    stage = _Stage(TreeDraw.start(seed, without, RARE, LATER, tape))
    pick, rng = stage.draw, stage.draw.rng
    if "units" in pick.rare:
        stage.units = _TEXTS["units"][pick.later.choice([*_TEXTS["units"]])]
        pick.rare -= {"default gravity", "shape mass"}  # they are those of the earth and of water, in any unit
    pick.rare |= {"drive"} if "acceleration" in pick.rare and "drive" not in without else set()
    stage.has_contacts = pick.may(0.15, "contact") or ("contact" not in without and bool(pick.rare & {*LATER[:2]}))
    stage.origin = (pick.vector(0.3), pick.quaternion()) if pick.now("root") else HERE
    stage.scale = pick.number(0.5, 2.0) if pick.now("root scale", 1.0) else 1.0
    stage.root = "loose" if pick.now("loose") else pick.one(["robot", "robot", "joint", "body"])
    for index in range(1 if stage.has_contacts else rng.integers(1, 6)):
        rng.part = index
        _add(stage, index)
    rng.part = -1
    is_turned = pick.now("up axis", 1.0)
    direction = pick.vector()
    gravity = 9.81 * np.array([0, -1.0, 0] if is_turned else [0, 0, -1.0])
    said = ""
    if not pick.now("default gravity", 1.0):
        gravity = direction / np.linalg.norm(direction) * 8.0
        said = f"vector3f physics:gravityDirection = {_tuple(direction)}\nfloat physics:gravityMagnitude = 8"
    text = _text(stage, "Y" if is_turned else "Z", said)
    ground = f'<geom type="box" size="3 3 3" pos="{numbers(_GROUND[0])}" friction=".5"/>' * stage.has_contacts
    if is_turned:
        gravity = turned(Y_UP[1], gravity)
        ground = ground.replace(numbers(_GROUND[0]), numbers(turned(Y_UP[1], _GROUND[0])))
        for link in stage.links:
            if link.parent < 0 or link.is_free:
                link.place = chain(Y_UP, link.place)
        for axis in (axis for link in stage.links for axis in link.axes if axis.kind == "free"):
            axis.qvel[:3] = turned(Y_UP[1], axis.qvel[:3])
    if stage.has_contacts:
        text, ground = _touching(pick, text, ground)
    whole = reference(stage.links, gravity.tolist(), more=stage.more, world=ground, has_contacts=stage.has_contacts)
    whole = whole.replace('friction=".5"', 'friction=".25"') if '= "multiply"' in text else whole
    return RandomFile(suffix=".usda", text=text, reference=_by_inertia(whole), unit=stage.units[0])


def _by_inertia(text: str) -> str:
    """Return a reference whose actuators with a name have gains by the inertia of their joint at the start."""
    model: Any = mujoco.MjModel.from_xml_string(text)

    def scaled(found: re.Match[str]) -> str:
        joint = int(model.actuator(found[1]).trnid[0])
        return f'biasprm="{numbers(np.array(found[2].split(), float) / model.dof_invweight0[model.jnt_dofadr[joint]])}"'

    return re.sub('name="([^"]*)" biasprm="([^"]*)"', scaled, text)


def _touching(draw: TreeDraw, text: str, ground: str) -> tuple[str, str]:
    """Return a stage with what parts its body from the ground, or lets it slide, and the ground of the reference."""
    way = str(draw.later.choice([*_TEXTS["parted"]])) if "parted" in draw.rare else ""
    text = text.replace("# pairs", "rel physics:filteredPairs = </w/l0>" * (way == "pair"))
    mode = str(draw.later.choice([*_TEXTS["modes"]])) if "combine mode" in draw.rare else ""
    said = text.replace("# mode", _TEXTS["modes"].get(mode, "")) + _TEXTS["parted"].get(way, "")
    return said, ground * (way in ("", "own group"))


_GROUND: Pose = (np.array([0.0, 0.0, -3.3]), HERE[1])


def _tuple(values: Any) -> str:
    return f"({numbers(values, ', ')})"


def _text(stage: _Stage, up: str, gravity: str) -> str:
    root = ["PhysicsArticulationRootAPI"] if stage.root == "robot" else []
    ops = _ops(stage.draw, stage.origin, [stage.scale] * 3 if stage.scale != 1 else None)
    parts = [ops, *stage.bodies, *stage.joints]
    robot, content = _prim("Xform", "w", root, parts), _indented("\n".join(parts))
    if stage.draw.now("instance", 1.0):
        schemas = _schemas(root)[2:-1]
        robot = f'class "Robot" {{\n{content}\n}}\ndef Xform "w" (\n  {schemas}\n  prepend references = </Robot>\n'
        robot = (robot + "  instanceable = true\n) {\n}").replace("</w/", "</Robot/")
    if stage.draw.now("inactive", 1.0):
        robot += '\ndef Sphere "x" (active = false\n  prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {\n}'
    if stage.has_contacts:
        robot += _TEXTS["floor"].replace("# place", _ops(stage.draw, _GROUND))
    units = f"metersPerUnit = {stage.units[0]}; kilogramsPerUnit = {stage.units[1]}"
    scene = _prim("PhysicsScene", "scene", [], [gravity])
    text = f'#usda 1.0\n(upAxis = "{up}"; {units})\n{scene}\n{robot}{stage.materials}\n'
    return re.sub(r"\n *# end.*$", "", text, flags=re.MULTILINE)


def _schemas(names: Sequence[str]) -> str:
    """Return the metadata of a prim that applies schemas, each once; empty if it applies none."""
    quoted = ", ".join(f'"{each}"' for each in dict.fromkeys(names))
    return f" (prepend apiSchemas = [{quoted}])" if names else ""


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n") if line.strip())


def _prim(kind: str, name: str, schemas: Sequence[str], lines: Sequence[str]) -> str:
    """Return a prim."""
    content = _indented("\n".join(lines))
    content = f" {content.strip()} " if re.fullmatch(" *rel .*", content) else f"\n{content}\n"
    return f'def {kind} "{name}"{_schemas(schemas)} {{{content}}}'


def _ops(draw: TreeDraw, pose: Pose, scale: Any = None) -> str:
    """Return the operations of a prim's pose and scale, in a form of USD; nothing for the identity."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, pose[1])
    rows = matrix.reshape(3, 3)
    form = draw.one(["orient", "orient", "rotateXYZ", "rotateZYX", "transform"])
    ops = {"translate": f"double3 xformOp:translate = {_tuple(pose[0])}"}
    if form == "orient":
        ops["orient"] = f"quatd xformOp:orient = {_tuple(pose[1])}"
    elif form == "transform":
        whole = np.eye(4)
        whole[:3, :3], whole[3, :3] = rows.T, pose[0]
        ops = {"transform": f"matrix4d xformOp:transform = ({', '.join(map(_tuple, whole))})"}
    else:
        angles = math.atan2(rows[2, 1], rows[2, 2]), math.asin(-rows[2, 0]), math.atan2(rows[1, 0], rows[0, 0])
        if form == "rotateZYX":
            angles = math.atan2(-rows[1, 2], rows[2, 2]), math.asin(rows[0, 2]), math.atan2(-rows[0, 1], rows[0, 0])
        ops[form] = f"double3 xformOp:{form} = {_tuple(np.array(angles) / DEGREE)}"
    if not pose[0].any() and np.array_equal(rows, np.eye(3)):
        ops = {}
    if scale is not None:
        ops["scale"] = f"float3 xformOp:scale = {_tuple(scale)}"
    names = ", ".join(f'"xformOp:{name}"' for name in ops)
    return "\n".join([*ops.values(), f"uniform token[] xformOpOrder = [{names}]"] if ops else [])


def _add(stage: _Stage, index: int) -> None:
    """Add a body, and the joint that carries it."""
    draw, rng = stage.draw, stage.draw.rng
    parent = int(rng.integers(-1 if stage.root == "loose" else 0, index)) if index else -1
    kind = "Free" if stage.has_contacts or draw.now("free", 0.3) else _kind(draw)
    parent = -1 if kind == "Free" else parent
    link = TreeLink(name=f"l{index}", parent=parent, place=(draw.vector(0.25), draw.quaternion()))
    pose = chain(stage.origin if parent < 0 else stage.poses[parent], link.place)
    link.place = pose if parent < 0 else link.place
    stage.links.append(link)
    stage.poses.append(pose)
    holder, holder_path = stage.origin, "/w"
    is_deep = parent >= 0 and draw.now("deep") and stage.paths[parent] not in stage.own_scales
    if is_deep:
        holder, holder_path = stage.poses[parent], stage.paths[parent]
    wrap = "# body"
    if draw.now("group"):
        group = draw.vector(0.2), draw.quaternion()
        wrap = _prim("Xform", f"g{index}", [], [_ops(draw, (group[0] / stage.scale, group[1])), "# body", "# end"])
        holder, holder_path = chain(holder, group), f"{holder_path}/g{index}"
    stage.paths.append(f"{holder_path}/l{index}")
    text = wrap.replace("# body", _body(stage, index, chain(inverse(holder), stage.poses[index]), kind))
    if is_deep:
        at = next(i for i, each in enumerate(stage.bodies) if f"# end of l{parent}\n" in each)
        stage.bodies[at] = stage.bodies[at].replace(f"# end of l{parent}\n", f"{text}\n# end of l{parent}\n")
    else:
        stage.bodies.append(text)
    if kind != "Free":
        _joint(stage, index, kind)


def _kind(draw: TreeDraw) -> str:
    if draw.now("ball"):
        return "Spherical"
    return "D6" if draw.now("d6") or draw.now("d6 free") else draw.one(["Revolute", "Revolute", "Prismatic", "Fixed"])


def _body(stage: _Stage, index: int, pose: Pose, kind: str) -> str:
    """Give a body its mass and shapes in the reference, and return its prim."""
    draw, link = stage.draw, stage.links[index]
    schemas, lines = ["PhysicsRigidBodyAPI"], []
    way = next((each for each in _WAYS if draw.now(each)), "")
    is_still = kind == "Free" and any(draw.now(each) for each in ("kinematic", "off"))
    is_own = draw.now("own shape") and not stage.has_contacts
    way = ("body density" if "density" in way else "body mass" if way else "shape mass") if is_own else way
    shape_lines, geoms = _shapes(stage, index, way)
    prim, own_scale = "Xform", None
    if is_own:
        sizes = draw.rng.uniform(0.04, 0.12, 3).round(4)
        own_scale, prim = sizes / stage.scale, "Cube"
        stage.own_scales[stage.paths[index]] = own_scale
        geoms = link.geoms = [f'<geom type="box" size="{numbers(sizes)}"/>']
        shape_lines, schemas = "", [*schemas, "PhysicsCollisionAPI"]
    if way:
        weight, (mass, com, about_com) = draw.number(0.3, 3), mass_of(geoms)
        factor = 1.0 if way == "shape mass" else weight if "density" in way else weight / mass
        said = f"float physics:density = {1000 * weight}" if "density" in way else f"float physics:mass = {weight}"
        if way in ("body mass", "body density"):
            lines.append(said)
            schemas.append("PhysicsMassAPI")
        elif way == "material density":
            stage.materials += "\n" + _prim("Material", f"m{index}", ["PhysicsMaterialAPI"], [said])
            said = f"rel material:binding:physics = </m{index}>"
        shape_lines = shape_lines.replace("# mass", said)
        link.inertial = inertial(factor * mass, com, factor * about_com)
    else:
        schemas.append("PhysicsMassAPI")
        mass, com = draw.number(0.3, 2), np.zeros(3) if kind == "Free" else draw.vector(0.07)
        moments, axes = draw.moments(mass), draw.quaternion()
        link.inertial = inertial(mass, com, tensor(moments, axes))
        lines += [f"float physics:mass = {mass}", f"float3 physics:diagonalInertia = {_tuple(moments)}"]
        lines += [f"quatf physics:principalAxes = {_tuple(axes)}"] * bool(axes[1:].any())
        lines.append(f"point3f physics:centerOfMass = {_tuple(com / stage.scale)}")
    if draw.now("gravcomp"):
        lines.append(draw.one(["double mjc:gravcomp = 1", "bool physxRigidBody:disableGravity = 1"]))
        link.text = 'gravcomp="1"'
    if kind == "Free":
        lines += _free(stage, index, is_still)
    schemas += ["PhysicsArticulationRootAPI"] * (stage.root == "body" and link.parent < 0 and kind != "Free")
    pose = pose[0] / stage.scale, pose[1]
    lines += [_ops(draw, pose, own_scale), shape_lines, f"# end of l{index}", ""]
    return _prim(prim, f"l{index}", schemas, lines)


_WAYS = ("body mass", "body density", "collider mass", "collider density", "material density", "shape mass")
"""Ways to say a mass other than by all properties of the body."""


def _free(stage: _Stage, index: int, is_still: bool) -> list[str]:
    """Return the start of a free body, or why it stands still."""
    draw, link = stage.draw, stage.links[index]
    link.axes = [TreeAxis(name=f"f{index}", kind="free", qvel=np.zeros(6))]
    if is_still:
        link.axes, link.text = (), ""
        return [f"bool physics:{'kinematicEnabled = 1' if draw.now('kinematic', 1.0) else 'rigidBodyEnabled = 0'}"]
    if draw.now("velocity"):
        velocity = draw.vector()
        link.axes[0].qvel = np.r_[turned(stage.poses[index][1], velocity), np.zeros(3)]  # the file has it in the body
        return [f"vector3f physics:velocity = {_tuple(velocity)}"]
    return []


def _shapes(stage: _Stage, index: int, way: str) -> tuple[str, list[str]]:
    """Return the colliders of a body, and give it those of the reference."""
    draw, texts, geoms = stage.draw, list[str](), list[str]()
    for number in range(1 if way == "collider mass" else draw.rng.integers(1, 4)):
        place = draw.vector(0.08), draw.quaternion()
        sizes, kind = draw.rng.uniform(0.04, 0.12, 3).round(4), draw.one(["Cube", "Sphere", "Capsule", "Cylinder"])
        axis, scale, pose, unit = draw.one("XYZ"), None, place, stage.scale
        if kind == "Cube":
            body, size, scale = "", sizes, sizes / unit  # its size is 2
        elif kind == "Sphere":
            body, size = f"double radius = {sizes[0] / unit:.12g}", sizes[:1]
        else:
            body = f"double radius = {sizes[0] / unit:.12g}\ndouble height = {2 * sizes[1] / unit:.12g}\n"
            body += f'uniform token axis = "{axis}"'
            size, pose = sizes[:2], chain(place, (np.zeros(3), _TO[axis]))
        if draw.now("scale") and kind != "Cube":
            factor = draw.number(0.5, 1.5)
            scale, size = [factor] * 3, size * factor
        name = {"Cube": "box"}.get(kind, kind.lower())
        geoms.append(
            f'<geom type="{name}" size="{numbers(size)}" pos="{numbers(pose[0])}" quat="{numbers(pose[1])}"'
            f' friction="{".5" if stage.has_contacts else "1"}"/>'
        )
        schemas = ["PhysicsCollisionAPI", "MaterialBindingAPI", *["PhysicsMassAPI"] * way.startswith("collider")]
        body += "\n# mass" * way.startswith(("collider", "material"))
        body += "\nrel material:binding:physics = </half>" * (stage.has_contacts and way != "material density")
        lines = [*body.split("\n"), _ops(draw, (place[0] / unit, place[1]), scale)]
        texts.append(_prim(kind, f"s{index}_{number}", schemas, lines))
    stage.links[index].geoms = geoms
    return "\n".join(texts), geoms


_TO = {"X": about([0, 1, 0], math.pi / 2), "Y": about([1, 0, 0], -math.pi / 2), "Z": HERE[1]}
"""Rotations of z to an axis."""


def _joint(stage: _Stage, index: int, kind: str) -> None:
    """Add the joint of a body to the stage, and to the reference."""
    draw, link = stage.draw, stage.links[index]
    frame = (draw.vector(0.1), draw.quaternion())
    if draw.now("disabled"):
        link.place = stage.poses[index]
        link.axes = [TreeAxis(name=f"j{index}", kind="free", qvel=np.zeros(6))]
    up = HERE if link.parent < 0 else stage.poses[link.parent]
    carrier = chain(inverse(up), chain(stage.poses[index], frame))
    lines, schemas, sign, letter, start = list[str](), list[str](), 1.0, draw.one("XYZ"), 0.0
    if draw.now("mismatch") and kind in ("Revolute", "Prismatic") and not link.axes:
        start = draw.number(-0.5, 0.5)
        back = (np.zeros(3), about(_AXES[letter], -start)) if kind == "Revolute" else (-start * _AXES[letter], HERE[1])
        carrier = chain(carrier, back)
    ends = [stage.paths[link.parent] if link.parent >= 0 else "", stage.paths[index]]
    frames = [carrier, frame]
    if kind != "D6" and draw.now("swapped"):
        ends, frames, sign = ends[::-1], frames[::-1], -1.0
    if link.parent < 0 and draw.now("static parent"):
        at = ends.index("")
        ends[at], frames[at] = "/w", chain(inverse(stage.origin), frames[at])
    lines += [f"rel physics:body{side} = <{end}>" for side, end in enumerate(ends) if end]
    scales = [stage.own_scales.get(end, 1.0) * (stage.scale if end else 1.0) for end in ends]
    frames = [(place / scale, turn) for (place, turn), scale in zip(frames, scales, strict=True)]
    for side, (place, turn) in enumerate(frames):
        lines += [f"point3f physics:localPos{side} = {_tuple(place)}"] * bool(place.any())
        lines += [f"quatf physics:localRot{side} = {_tuple(turn)}"] * bool(turn[1:].any())
    if any(axis.kind == "free" for axis in link.axes):
        lines.append("bool physics:jointEnabled = 0")
    elif kind == "Spherical":
        link.axes = [TreeAxis(name=f"j{index}", kind="ball", text=f'pos="{numbers(frame[0])}"', qvel=[0.0] * 3)]
    elif kind == "D6":
        _several(stage, link, index, frame, lines, schemas)
    elif kind != "Fixed":
        lines += [f'uniform token physics:axis = "{letter}"'] * (letter != "X")
        axis = TreeAxis(name=f"j{index}", kind="hinge" if kind == "Revolute" else "slide")
        axis.vector, axis.text = sign * turned(frame[1], _AXES[letter]), f'pos="{numbers(frame[0])}"'
        if start:
            axis.text, axis.qpos = f'{axis.text} ref="{start}"', start
        link.axes = [axis]
        _laws(stage, axis, lines, schemas)
    if stage.root == "joint" and link.parent < 0:
        schemas.append("PhysicsArticulationRootAPI")
    prim = "PhysicsJoint" if kind == "D6" else f"Physics{kind}Joint"
    stage.joints.append(_prim(prim, f"j{index}", schemas, lines))


def _several(stage: _Stage, link: TreeLink, index: int, frame: Pose, lines: list[str], schemas: list[str]) -> None:
    draw = stage.draw
    sets = (("transX",), ("rotY",), ("transX", "transZ"), ("transY", "rotY"), ("transX", "rotZ"))
    free = sets[draw.rng.integers(0, len(sets))]
    for name in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
        if name in free and "d6 free" in draw.rare:
            continue
        high = -1.0 if name not in free else 900.0 if name.startswith("rot") else 9.0
        schemas.append(f"PhysicsLimitAPI:{name}")
        lines += [f"float limit:{name}:physics:low = {-high}", f"float limit:{name}:physics:high = {high}"]
    link.axes = []
    for name in free:
        axis = TreeAxis(name=f"j{index}{name}", kind="hinge" if name.startswith("rot") else "slide")
        axis.vector, axis.text = turned(frame[1], _AXES[name[-1]]), f'pos="{numbers(frame[0])}"'
        link.axes = [*link.axes, axis]
        unit = DEGREE if axis.kind == "hinge" else 1.0
        if draw.may(0.5, "speed"):
            axis.qvel = draw.number(-1, 1)
            schemas.append(f"PhysicsJointStateAPI:{name}")
            lines.append(f"float state:{name}:physics:velocity = {axis.qvel / unit:.9g}")
        if draw.now("drive"):
            _drive(stage, axis, name, lines, schemas)


def _laws(stage: _Stage, axis: TreeAxis, lines: list[str], schemas: list[str]) -> None:
    """State what a hinge or slider starts with, and what acts on it."""
    draw, name = stage.draw, "angular" if axis.kind == "hinge" else "linear"
    unit = DEGREE if axis.kind == "hinge" else 1.0
    axis.qvel = draw.number(-2, 2) if draw.may(0.8, "speed") else 0.0
    follows = bool(stage.followed) and (draw.now("mimic") or "physx mimic" in draw.rare) and not axis.qpos
    if draw.now("near") and not follows:
        axis.range = -0.02, 0.03
        lines += [f"float physics:lowerLimit = {-0.02 / unit:.9g}", f"float physics:upperLimit = {0.03 / unit:.9g}"]
    elif draw.may(0.4, "limit"):
        lines += [f"float physics:lowerLimit = {-3 / unit:.9g}", f"float physics:upperLimit = {3 / unit:.9g}"]
    if draw.now("state") and not axis.qpos:
        axis.qpos = 0.0 if axis.range else draw.number(-0.5, 0.5)
        lines.append(f"float state:{name}:physics:position = {axis.qpos / unit:.9g}")
    if draw.now("damping"):
        value = draw.number(0.02, 0.5)
        axis.text += f' damping="{value}"'
        lines.append(draw.one([f"float newton:damping = {value * unit:.9g}", f"double mjc:damping = {value}"]))
        schemas += ["NewtonJointAPI"] * ("newton" in lines[-1])
    if draw.now("friction"):
        axis.text += ' frictionloss=".2"'
        lines.append(draw.one(["float newton:friction = 0.2", "double mjc:frictionloss = 0.2"]))
    if draw.now("armature"):
        axis.text += ' armature=".05"'
        lines.append(draw.one(["float newton", "double mjc", "float physxJoint"]) + ":armature = 0.05")
    if draw.now("spring"):
        rest = draw.number(-0.5, 0.5)
        axis.text += f' stiffness="9" springref="{rest}"'
        lines += ["double mjc:stiffness = 9", f"double mjc:springref = {rest / unit:.9g}"]
    if draw.now("drive") or draw.now("max force") or "acceleration" in draw.rare:
        _drive(stage, axis, name, lines, schemas)
    if follows:
        _follow(stage, axis, lines, schemas)
    else:
        stage.followed.append(axis)
    if speed := float(np.ravel(axis.qvel)[0]):
        lines.append(f"float state:{name}:physics:velocity = {speed / unit:.9g}")
    schemas += [f"PhysicsJointStateAPI:{name}"] * any("state:" in line for line in lines)


def _drive(stage: _Stage, axis: TreeAxis, name: str, lines: list[str], schemas: list[str]) -> None:
    draw, unit = stage.draw, DEGREE if axis.kind == "hinge" else 1.0
    kp, kd, to, speed = draw.number(0, 20), draw.number(0.01, 1), draw.number(-0.5, 0.5), draw.number(-1, 1)
    values = {"stiffness": kp * unit, "damping": kd * unit, "targetPosition": to / unit, "targetVelocity": speed / unit}
    if draw.now("max force", 1.0):
        values["maxForce"] = 0.5
        axis.text += ' actuatorfrcrange="-.5 .5"'
    schemas.append(f"PhysicsDriveAPI:{name}")
    lines += [f"float drive:{name}:physics:{key} = {value:.9g}" for key, value in values.items()]
    by_inertia = f'name="by {axis.name}"' if "acceleration" in draw.rare else ""
    if by_inertia:
        lines.append(f'uniform token drive:{name}:physics:type = "acceleration"')
    stage.more.append(
        f'<general joint="{axis.name}" biastype="affine" gainprm="0" {by_inertia}'
        f' biasprm="{kp * to + kd * speed:.12g} {-kp:.12g} {-kd:.12g}"/>'
    )


def _follow(stage: _Stage, axis: TreeAxis, lines: list[str], schemas: list[str]) -> None:
    draw = stage.draw
    leader = stage.followed[draw.rng.integers(0, len(stage.followed))]
    if leader.kind != axis.kind:
        return
    unit = DEGREE if axis.kind == "hinge" else 1.0
    factor, offset = draw.number(-2, 2), draw.number(-0.3, 0.3)
    axis.qpos, axis.qvel = offset + factor * leader.qpos, factor * float(np.ravel(leader.qvel)[0])
    stage.more.append(
        f'<joint joint1="{axis.name}" joint2="{leader.name}" polycoef="{offset} {factor} 0 0 0" solref=".004 1"/>'
    )
    lines[:] = [line for line in lines if ":physics:position" not in line]
    name = "angular" if axis.kind == "hinge" else "linear"
    lines.append(f"float state:{name}:physics:position = {axis.qpos / unit:.9g}")
    if "physx mimic" in draw.rare and axis.kind == "hinge":
        schemas.append("PhysxMimicJointAPI:rotZ")
        lines += [
            f"rel physxMimicJoint:rotZ:referenceJoint = </w/{leader.name}>",
            f"float physxMimicJoint:rotZ:gearing = {-factor}",
            f"float physxMimicJoint:rotZ:offset = {-offset / unit:.9g}",
        ]
        return
    schemas.append("NewtonMimicAPI")
    lines += [
        f"rel newton:mimicJoint = </w/{leader.name}>",
        f"float newton:mimicCoef1 = {factor}",
        f"float newton:mimicCoef0 = {offset / unit:.9g}",
    ]
