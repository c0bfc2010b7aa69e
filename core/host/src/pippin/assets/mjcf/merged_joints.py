"""Bodies with several joints in MJCF, as Newton can hold them: one joint of several axes, or a chain of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from pippin.assets.untyped import mujoco

_SLIDE, _HINGE = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)

_POSE = ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler")

_LINK_MASS, _LINK_INERTIA = "1e-9", "1e-12"
"""Mass [kg] and moment of inertia [kg·m²] of a body of a chain: MuJoCo refuses a moving body without them."""

_LINK_INERTIA_IN_MEDIUM = "1e-14"
"""Moment of inertia in a medium [kg·m²], which acts on a box of the body's mass and moments: a box of 8 mm."""


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
        if coupled.isdisjoint(names) and _is_one_joint(*_joints(model, names)):
            anchor = text_of(model.joint(names[-1]).pos)
            for joint in joints:
                joint.set("pos", anchor)
        else:
            has_medium = model.opt.density or model.opt.viscosity
            _split(parent, body, joints, _LINK_INERTIA_IN_MEDIUM if has_medium else _LINK_INERTIA)
            _keep_apart(root, model, model.body(body.get("name")).id)


def _joints(model: Any, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return type, anchor and axis of joints."""
    found = [model.joint(name) for name in names]
    # pyrefly: ignore[bad-return]
    return tuple(np.array([getattr(each, key) for each in found]) for key in ("type", "pos", "axis"))


def _is_one_joint(kinds: np.ndarray, anchors: np.ndarray, directions: np.ndarray) -> bool:
    """Tell whether one joint of several axes is the same mechanism as these joints of one body."""
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


def _split(parent: Element, body: Element, joints: Sequence[Element], inertia: str) -> None:
    """Put a body for each joint but the last, with a moment of inertia, between a body and its parent."""
    place = list(parent).index(body)
    parent.remove(body)
    pose = {key: body.attrib.pop(key) for key in _POSE if key in body.attrib}
    classes = {key: value for key, value in body.attrib.items() if key == "childclass"}
    outer = parent
    for joint in joints[:-1]:
        link = Element("body", {"name": f"{body.get('name')}~{joint.get('name')}", **classes, **pose})
        SubElement(link, "inertial", {"pos": "0 0 0", "mass": _LINK_MASS, "diaginertia": " ".join([inertia] * 3)})
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
