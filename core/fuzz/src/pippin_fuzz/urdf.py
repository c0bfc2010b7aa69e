"""Random URDF files: a tree on a fixed base, and the same in MJCF."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

import attrs
import mujoco
import numpy as np

from .files import RandomFile
from .tapes import Tape
from .trees import (
    TreeAxis,
    TreeDraw,
    TreeLink,
    about,
    chain,
    inertial,
    mass_of,
    numbers,
    reference,
    tensor,
    tilted,
    times,
    world_pose,
)

GRAVITY = (0.0, 0.0, -9.81)

RARE = (
    *("axisless", "bounds", "comments", "continuous limits", "effort", "floating", "form", "friction", "gazebo"),
    *("lower", "massless", "mimic", "names", "near", "order", "planar", "root", "safety", "shape mass"),
    *("transmission", "velocity", "visual"),
)
"""Statements of which a file makes two at most."""

_NAMES = ("a & b", 'say "x"', "it's", "x.y", "[0]", "a b", "gelenk-ä", "a*", "<a>", "left/arm", "a\\b", "(c)", "^d$")

_GROUND = '<geom name="ground" type="plane" size="0 0 1"/>'

_CONTINUOUS = '<limit lower="-.01" upper=".01" effort="50"/>'

_SAFETY = '<safety_controller soft_lower_limit="-.1" soft_upper_limit=".1" k_velocity="9"/><calibration rising=".1"/>'


@attrs.define
class _File:
    draw: TreeDraw
    links: list[TreeLink] = attrs.field(factory=lambda: [TreeLink(name="base")])
    elements: list[str] = attrs.field(factory=list)
    """Links and joints of the file."""

    more: list[str] = attrs.field(factory=list)
    """Equalities and motors of the reference."""

    followed: list[TreeAxis] = attrs.field(factory=list)
    """Joints that others may follow."""

    has_contacts: bool = False
    weighed: set[int] = attrs.field(factory=set)
    """Links whose shapes give the mass."""


def draw(seed: int, without: frozenset[str] = frozenset(), tape: Tape | None = None) -> RandomFile:
    """Return the URDF file of a seed, whose statements do not use the words left out.

    Its start is that of the reference's keyframe, as a URDF states none: positions and speeds of hinges and sliders by
    their names. A motor of the reference is a constant effort on its joint.
    """
    file = _File(TreeDraw.start(seed, without, RARE, tape=tape))
    rng = file.draw.rng
    name = file.draw.one(_NAMES) if file.draw.now("names") else "r"
    file.has_contacts = file.draw.may(0.15, "contact")
    if file.draw.now("root"):
        file.elements.append(f'<link name="base">{_mass(file, file.links[0])}{_shapes(file, file.links[0])}</link>')
    else:
        file.elements.append('<link name="base"/>')
    for index in range(1 if file.has_contacts else rng.integers(1, 6)):
        rng.part = index
        _add(file)
    rng.part = -1
    if file.has_contacts:
        _lower(file)
    if file.draw.now("order", 1.0):
        rng.shuffle(file.elements)
    if file.draw.now("comments", 1.0):
        file.elements.insert(0, "<!-- <link name='x'/> --><material name='red'><color rgba='1 0 0 1'/></material>")
    text = f'<?xml version="1.0"?>\n<robot name={quoteattr(name)}>\n{chr(10).join(file.elements)}\n</robot>\n'
    ground = _GROUND if file.has_contacts else ""
    whole = reference(file.links, GRAVITY, more=file.more, world=ground, has_contacts=file.has_contacts)
    return RandomFile(suffix=".urdf", text=text, reference=whole)


def _add(file: _File) -> None:
    """Add a link on a joint to one of the links."""
    draw, index = file.draw, len(file.links)
    parent = int(draw.rng.integers(0, index))
    suffix = f" {draw.one(_NAMES)}" if draw.now("names") else ""
    link = TreeLink(name=f"l{index}{suffix}", parent=parent)
    angles = draw.vector(1.0) if draw.may(0.8, "rpy") else np.zeros(3)
    place = draw.vector(0.2) + np.array([0, 0, 1.5 if file.has_contacts else 0])
    link.place = place, _rotation(angles)
    kind = draw.one(["continuous", "continuous", "revolute", "revolute", "prismatic", "fixed"])
    kind = "floating" if file.has_contacts or draw.now("floating", 0.4) else kind
    kind = "planar" if draw.now("planar", 0.4) and not file.has_contacts else kind
    # Shapes weigh a link alone, and not one that is fixed to another one with a mass.
    kind = "continuous" if kind == "fixed" and parent in file.weighed else kind
    name, parts = f"j{index}{suffix}", _origin(place, angles)
    parts += _joint(file, link, kind, name)
    if kind == "floating":
        link.place = chain(world_pose(file.links, parent), link.place)
    file.links.append(link)
    is_bare = kind == "fixed" and draw.now("massless")
    is_weighed = kind != "fixed" and draw.now("shape mass")
    file.weighed |= {index} if is_weighed else set()
    mass = "" if is_bare or is_weighed else _mass(file, link)
    shapes = "" if is_bare else _shapes(file, link)
    if not (mass or is_bare):
        link.inertial = inertial(*mass_of(link.geoms))
    visual = '<visual><geometry><box size="1 1 1"/></geometry></visual>' if draw.now("visual") else ""
    file.elements += [
        f"<link name={quoteattr(link.name)}>{mass}{visual}{shapes}</link>",
        f'<joint name={quoteattr(name)} type="{kind}">{parts}<parent link={quoteattr(file.links[parent].name)}/>'
        f"<child link={quoteattr(link.name)}/></joint>",
    ]
    if draw.now("gazebo"):
        file.elements.append(f"<gazebo reference={quoteattr(link.name)}><mu1>.2</mu1></gazebo>")
    if draw.now("transmission") and kind != "fixed":
        file.elements.append(
            f'<transmission name="t{index}"><type>x</type><joint name={quoteattr(name)}/><actuator name="m{index}">'
            "<mechanicalReduction>9</mechanicalReduction></actuator></transmission>"
        )


def _lower(file: _File) -> None:
    """Let the only link start 2 cm above the ground, which it touches after 0.06 s."""
    place, old = file.links[1].place[0], numbers(file.links[1].place[0])
    body = f'<body pos="{old}" quat="{numbers(file.links[1].place[1])}">{"".join(file.links[1].geoms)}</body>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{_GROUND}{body}</worldbody></mujoco>")
    mujoco.mj_forward(model, data := mujoco.MjData(model))
    place[2] += 0.02 - min(mujoco.mj_geomDistance(model, data, 0, geom, 9.0, None) for geom in range(1, model.ngeom))
    file.elements = [each.replace(f'xyz="{old}"', f'xyz="{numbers(place)}"') for each in file.elements]


def _rotation(angles: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the quaternion of roll, pitch and yaw [rad]."""
    roll, pitch, yaw = angles
    return times(about([0, 0, 1], yaw), times(about([0, 1, 0], pitch), about([1, 0, 0], roll)))


def _origin(place: np.ndarray, angles: np.ndarray) -> str:
    attributes = [f'xyz="{numbers(place)}"' * bool(np.any(place)), f'rpy="{numbers(angles)}"' * bool(np.any(angles))]
    return f"<origin {' '.join(attributes)}/>"


def _joint(file: _File, link: TreeLink, kind: str, name: str) -> str:
    """Give a link the joints of the reference, and return the parts of the joint in the file."""
    draw = file.draw
    if kind == "fixed":
        return '<axis xyz="0 0 0"/>' if draw.now("form") else ""
    if kind == "floating":
        link.axes = [TreeAxis(name=name, kind="free", qvel=[0.0] * 6)]
        return ""
    vector = np.array([1.0, 0.0, 0.0]) if draw.now("axisless") else draw.vector()
    text = "" if np.array_equal(vector, [1, 0, 0]) else f'<axis xyz="{numbers(vector)}"/>'
    if kind == "planar":
        side = np.cross(vector, [0.3, 0.5, 0.7])
        slides = [("x", side), ("y", np.cross(vector, side))]
        link.axes = [TreeAxis(name=f"{name} {end}", kind="slide", vector=each) for end, each in slides]
        return text
    axis = TreeAxis(name=name, kind="slide" if kind == "prismatic" else "hinge", vector=vector)
    link.axes = [axis]
    axis.qvel = draw.number(-2, 2) if draw.may(0.8, "speed") else 0.0
    axis.qpos = draw.number(-0.8, 0.8) if draw.may(0.4, "position") else 0.0
    follows = bool(file.followed) and draw.now("mimic")
    text += _limits(draw, axis, kind, follows=follows) + _laws(draw, axis) + (_SAFETY if draw.now("safety") else "")
    if follows:
        text += _follow(file, axis)
    else:
        file.followed.append(axis)
        if draw.now("effort"):
            file.more.append(f'<motor joint={quoteattr(name)} gear="{draw.number(-2, 2)}"/>')
    return text


def _limits(draw: TreeDraw, axis: TreeAxis, kind: str, *, follows: bool) -> str:
    if kind == "continuous":
        return _CONTINUOUS if draw.now("continuous limits") else ""
    lower, upper, effort, speed = -9.0, 9.0, 500.0, ""
    if draw.now("near") and not follows:
        lower, upper, axis.qpos = -draw.number(0.01, 0.05), draw.number(0.01, 0.05), 0.0
    elif draw.now("lower") and not follows:
        lower, upper = draw.number(0.1, 0.3), 9.0
        axis.qpos = lower
        if draw.may(0.5):
            lower, upper = -9.0, -lower
            axis.qpos = upper
    if draw.now("bounds"):
        lower, upper = 9.0, -9.0  # repaired: no limits
    else:
        axis.range = lower, upper
    if draw.now("velocity"):
        speed = f' velocity="{draw.number(0.1, 9):.4g}"'
    return f'<limit lower="{lower:.12g}" upper="{upper:.12g}" effort="{effort:g}"{speed}/>'


def _laws(draw: TreeDraw, axis: TreeAxis) -> str:
    damping = draw.number(0.01, 0.5) if draw.may(0.3, "damping") else 0.0
    friction = draw.number(0.05, 0.4) if draw.now("friction") else 0.0
    if not damping and not friction:
        return ""
    axis.text += f' damping="{damping}" frictionloss="{friction}"'
    said = f'damping="{damping}"' if damping else ""
    return f'<dynamics {said} friction="{friction}"/>'


def _follow(file: _File, axis: TreeAxis) -> str:
    draw, leader = file.draw, file.followed[int(file.draw.rng.integers(0, len(file.followed)))]
    factor = draw.number(-2, 2) if draw.may(0.8) else 1.0
    offset = draw.number(-0.3, 0.3) if draw.may(0.5) else 0.0
    axis.qpos = offset + factor * leader.qpos
    axis.qvel = factor * float(np.ravel(leader.qvel)[0])
    file.more.append(
        f"<joint joint1={quoteattr(axis.name)} joint2={quoteattr(leader.name)}"
        f' polycoef="{offset:.12g} {factor:.12g} 0 0 0" solref=".004 1"/>'
    )
    multiplier = "" if factor == 1.0 else f'multiplier="{factor:.12g}"'
    shift = f'offset="{offset}"' if offset else ""
    return f"<mimic joint={quoteattr(leader.name)} {multiplier} {shift}/>"


def _mass(file: _File, link: TreeLink) -> str:
    """Give a link its inertia in the reference, and return that of the file; empty if its shapes weigh it."""
    draw = file.draw
    mass, com, turn = draw.number(0.3, 2), draw.vector(0.07), draw.vector() if draw.may(0.5) else np.zeros(3)
    matrix = tensor(draw.moments(mass), draw.quaternion() if draw.may(0.7, "products") else np.array([1.0, 0, 0, 0]))
    names = {name: float(f"{matrix[i, j]:.7g}") for name, i, j in _PARTS}
    rounded = np.zeros((3, 3))
    for name, i, j in _PARTS:
        rounded[i, j] = rounded[j, i] = names[name]
    link.inertial = inertial(mass, com, tilted(rounded, _rotation(turn)))
    form = "{:.7e}" if draw.now("form") else "{:.7g}"
    values = " ".join(f'{name}="{form.format(value)}"' for name, value in names.items() if value)
    return f'<inertial>{_origin(com, turn)}<mass value="{mass}"/><inertia {values}/></inertial>'


_PARTS = (("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2))


def _shapes(file: _File, link: TreeLink) -> str:
    draw, text, geoms = file.draw, "", []
    for _ in range(draw.rng.integers(1, 4)):
        place, angles = draw.vector(0.08), draw.vector()
        kind, sizes = draw.one(["sphere", "box", "cylinder", "capsule"]), draw.rng.uniform(0.04, 0.12, 3).round(4)
        shape = {
            "sphere": f'<sphere radius="{sizes[0]}"/>',
            "box": f'<box size="{numbers(2 * sizes)}"/>',
            "cylinder": f'<cylinder radius="{sizes[0]}" length="{2 * sizes[1]:.12g}"/>',
            "capsule": f'<capsule radius="{sizes[0]}" length="{2 * sizes[1]:.12g}"/>',
        }[kind]
        count = {"sphere": 1, "box": 3}.get(kind, 2)
        geoms.append(
            f'<geom type="{kind}" size="{numbers(sizes[:count])}" pos="{numbers(place)}" friction="1"'
            f' quat="{numbers(_rotation(angles))}" density="1000"/>'
        )
        text += f"<collision>{_origin(place, angles)}<geometry>{shape}</geometry></collision>"
    link.geoms = geoms
    return text
