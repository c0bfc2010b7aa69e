"""Rewriting of a flat MJCF file, as MuJoCo writes it, into what Newton's importer reads as MuJoCo means it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import mujoco
import numpy as np


def move_planes(root: ElementTree.Element, model: Any) -> bool:
    """Move planes from fixed bodies to the world, in their place, and tell whether there were any.

    MuJoCo allows planes on fixed bodies only, and lets them collide as those of the world; Newton's solvers take planes
    of the world only. Each geom of the file, whose model is MuJoCo's, has a name.
    """
    world = root.find("worldbody")
    planes = model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)
    names = {model.geom(int(index)).name: int(index) for index in np.flatnonzero(planes & (model.geom_bodyid > 0))}
    if world is None or not names:
        return False
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    _move(world, world, names, data, None)
    return True


def _move(
    world: ElementTree.Element, parent: ElementTree.Element, names: dict[str, int], data: Any, of_parent: str | None
) -> None:
    for body in parent.findall("body"):
        of_body = body.get("childclass", of_parent)
        for geom in [each for each in body.findall("geom") if each.get("name") in names]:
            index, turn = names[geom.get("name", "")], np.zeros(4)
            mujoco.mju_mat2Quat(turn, data.geom_xmat[index])
            body.remove(geom)
            for key in _POSE:
                geom.attrib.pop(key, None)
            geom.attrib |= {"pos": text_of(data.geom_xpos[index]), "quat": text_of(turn)}
            if of_body is not None:
                geom.attrib.setdefault("class", of_body)
            world.append(geom)
        _move(world, body, names, data, of_body)


_FULL = {
    **dict.fromkeys(("solref", "solreflimit", "solreffriction", "solreffix"), "0.02 1"),
    **dict.fromkeys(("solimp", "solimplimit", "solimpfriction", "solimpfix"), "0.9 0.95 0.001 0.5 2"),
}
"""MuJoCo's default of each vector of which a file may give the first numbers only."""

_SHARED = ("equality", "tendon")
"""Sections whose elements have other tags than their default class."""

_Given: TypeAlias = frozenset[tuple[str, str]]
"""Vectors that a class gives: pairs of tag and attribute."""

_Classes: TypeAlias = dict[str | None, _Given]


def complete_vectors(root: Element) -> None:
    """Complete the vectors of elements and default classes that inherit no other numbers from their class.

    MuJoCo's defaults fill what Newton's importer would fill with zeros.
    """
    inherited: _Classes = {}
    for default in root.findall("default"):
        inherited |= dict(_complete_class(default, frozenset()))
    main = inherited.get(None, frozenset())  # the class without a name
    for section in root:
        if section.tag != "default":
            _complete_elements(section, inherited, main, section.tag if section.tag in _SHARED else None)


def _complete_class(default: Element, given: _Given) -> Iterator[tuple[str | None, _Given]]:
    """Complete a default class and those below, and yield the vectors that each class gives, by tag and attribute."""
    own = set(given)
    for element in default:
        if element.tag != "default":
            own |= {(element.tag, key) for key in _fill(element, given, element.tag)}
    yield default.get("class"), frozenset(own)
    for child in default.findall("default"):
        yield from _complete_class(child, frozenset(own))


def _complete_elements(parent: Element, inherited: _Classes, ambient: _Given, tag: str | None) -> None:
    for element in parent:
        _fill(element, inherited.get(element.get("class"), ambient), tag or element.tag)
        _complete_elements(element, inherited, inherited.get(element.get("childclass"), ambient), tag)


def _fill(element: Element, given: _Given, tag: str) -> list[str]:
    """Complete the vectors of an element unless its class gives them for a tag; return the names of its vectors."""
    found = [key for key in _FULL if key in element.attrib]
    for key in found:
        if (tag, key) not in given:
            values, rest = element.attrib[key].split(), _FULL[key].split()
            element.set(key, " ".join(values + rest[len(values) :]))
    return found


_SLIDE, _HINGE = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)

_POSE = ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler")

_LINK_MASS, _LINK_INERTIA = "1e-9", "1e-12"
"""Mass [kg] and moment of inertia [kg·m²] of a body of a chain: MuJoCo refuses a moving body without them."""


def arrange_joints(root: Element, model: Any) -> None:
    """Rearrange the bodies with several joints.

    Newton merges the joints of a body into one, whose axes share an anchor and whose slides come first. If that is the
    same mechanism, only the anchors of slides move, which have no effect. Otherwise each joint but the last gets a body
    of its own, named BODY~JOINT, with almost no mass.
    """
    coupled = {each.get("joint") for each in root.iterfind("tendon/fixed/joint")}
    coupled |= {each.get(key) for each in root.iterfind("equality/joint") for key in ("joint1", "joint2")}
    for parent, body in [(each, child) for each in root.iter() for child in each.findall("body")]:
        joints = [each for each in body if each.tag in ("joint", "freejoint")]
        names = [each.get("name", "") for each in joints]
        if len(joints) < 2:
            continue
        if coupled.isdisjoint(names) and _is_one_joint([model.joint(name) for name in names]):
            anchor = text_of(model.joint(names[-1]).pos)
            for joint in joints:
                joint.set("pos", anchor)
        else:
            _split(parent, body, joints)
            _keep_apart(root, model, model.body(body.get("name")).id)


def _is_one_joint(joints: Sequence[Any]) -> bool:
    kinds, anchors, directions = (np.array([getattr(each, key) for each in joints]) for key in ("type", "pos", "axis"))
    kinds = kinds.ravel()
    slides, hinges = kinds == _SLIDE, kinds == _HINGE
    if not np.all(slides | hinges) or max(slides.sum(), hinges.sum()) > 3:
        return False
    has_slides_first = not np.any(slides[1:] & hinges[:-1])
    has_one_anchor = bool(np.all(anchors[hinges] == anchors[hinges][:1]))
    are_orthogonal = all(
        np.allclose(each @ each.T, np.eye(len(each)), atol=1e-6) for each in (directions[slides], directions[hinges])
    )
    return has_slides_first and has_one_anchor and are_orthogonal


def _split(parent: Element, body: Element, joints: Sequence[Element]) -> None:
    place = list(parent).index(body)
    parent.remove(body)
    pose = {key: body.attrib.pop(key) for key in _POSE if key in body.attrib}
    classes = {key: value for key, value in body.attrib.items() if key == "childclass"}
    outer = parent
    for joint in joints[:-1]:
        link = Element("body", {"name": f"{body.get('name')}~{joint.get('name')}", **classes, **pose})
        SubElement(link, "inertial", {"pos": "0 0 0", "mass": _LINK_MASS, "diaginertia": " ".join([_LINK_INERTIA] * 3)})
        body.remove(joint)
        link.append(joint)
        outer.insert(place if outer is parent else len(outer), link)
        outer, pose = link, {}
    outer.append(body)


def _keep_apart(root: Element, model: Any, body: int) -> None:
    """Exclude contacts of a split body and its former parent, which the bodies between them would allow."""
    welds = model.body_weldid
    own, above = (np.flatnonzero(welds == welds[each]) for each in (body, model.body_parentid[body]))
    if welds[above[0]] == 0 or model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT):
        return
    contact = root.find("contact")
    if contact is None:
        contact = SubElement(root, "contact")
    present = {(each.get("body1"), each.get("body2")) for each in contact.findall("exclude")}
    for first in above:
        for second in own:
            pair = (model.body(first).name, model.body(second).name)
            if pair not in present and pair[::-1] not in present:
                SubElement(contact, "exclude", {"body1": pair[0], "body2": pair[1]})


def text_of(values: np.ndarray) -> str:
    """Return numbers as an attribute of MJCF, with all digits."""
    return " ".join(repr(float(value)) for value in values)


_LAW = ("input", "biastype", "gaintype", "gainprm", "biasprm", "dyntype", "dynprm", "class", "gear")
"""Attributes that the short form replaces."""


def write_servos(root: Element, model: Any) -> None:
    """Give `<general>` actuators that are servos of a joint their short form, if Newton's drives can express their law.

    MuJoCo writes every actuator as `<general>`. Newton's importer makes a drive, which every solver can honour, only of
    `<position>` and `<velocity>`. A joint has one drive. If several servos act on a joint, they stay general actuators,
    except for one of position without damping beside one of velocity, both without a limit of their force: a drive has
    one limit for both.
    """
    elements = root.findall("actuator/*")
    servos: dict[int, list[tuple[Element, int, str]]] = {}
    for index, element in enumerate(elements):
        tag = servo_of(model, index)
        if tag:
            servos.setdefault(int(model.actuator_trnid[index, 0]), []).append((element, index, tag))
    defaults = root.find("default")
    for found in servos.values():
        tags = sorted(tag for _, _, tag in found)
        are_one = all(model.actuator_biasprm[index, 2] == 0.0 for _, index, tag in found if tag == "position")
        are_one &= not any(model.actuator_forcelimited[index] for _, index, _ in found)
        if len(found) == 1 or (tags == ["position", "velocity"] and are_one):
            for element, index, tag in found:
                inherited = {} if defaults is None else _inherited(defaults, element.get("class"))
                _shorten(element, inherited, tag, model.actuator_gainprm[index, 0], -model.actuator_biasprm[index, 2])


def servo_of(model: Any, index: int) -> str | None:
    """Return the short form of an actuator, `position` or `velocity`; None if Newton's drives cannot express it."""
    gain, bias, gear = (getattr(model, f"actuator_{name}")[index] for name in ("gainprm", "biasprm", "gear"))
    kinds = [int(getattr(model, f"actuator_{name}type")[index]) for name in ("trn", "dyn", "gain", "bias")]
    is_plain = kinds == [
        int(mujoco.mjtTrn.mjTRN_JOINT),
        int(mujoco.mjtDyn.mjDYN_NONE),
        int(mujoco.mjtGain.mjGAIN_FIXED),
        int(mujoco.mjtBias.mjBIAS_AFFINE),
    ]
    has_one_axis = is_plain and int(model.jnt_type[model.actuator_trnid[index, 0]]) in (_SLIDE, _HINGE)
    is_direct = has_one_axis and np.array_equal(gear, np.eye(6)[0])
    if not is_direct or gain[0] <= 0.0 or bias[0] != 0.0:
        return None
    if gain[0] == -bias[1]:
        return "position"
    return "velocity" if bias[1] == 0.0 and gain[0] == -bias[2] else None


def _shorten(element: Element, inherited: dict[str, str], tag: str, gain: float, damping: float) -> None:
    attributes = {**inherited, **element.attrib}
    element.tag = tag
    element.attrib = {key: value for key, value in attributes.items() if key not in _LAW}
    element.set("kv" if tag == "velocity" else "kp", repr(float(gain)))
    if damping and tag == "position":
        element.set("kv", repr(float(damping)))


def _inherited(defaults: Element, name: str | None) -> dict[str, str]:
    general = defaults.find("general")
    own = {} if general is None else dict(general.attrib)
    if name is None or defaults.get("class", "main") == name:
        return own
    for child in defaults.findall("default"):
        if any(each.get("class") == name for each in child.iter("default")):
            return {**own, **_inherited(child, name)}
    return own
