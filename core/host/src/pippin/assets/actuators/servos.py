"""Servos in MJCF: `<general>` actuators that are position or velocity servos of a joint get back their short form.

MuJoCo writes every actuator as `<general>`. Newton's importer makes a drive, which every solver can honour, only of
`<position>` and `<velocity>`.
"""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from pippin.assets.untyped import mujoco

_LAW = ("input", "biastype", "gaintype", "gainprm", "biasprm", "dyntype", "dynprm", "class", "gear")
"""Attributes that the short form replaces."""


def write_servos(root: Element, model: Any) -> None:
    """Rewrite the servos of a flat MJCF file whose law Newton's drives can express.

    A joint has one drive. If several servos act on a joint, they stay general actuators, except for one of position
    without damping beside one of velocity.
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
        is_undamped = all(model.actuator_biasprm[index, 2] == 0.0 for _, index, tag in found if tag == "position")
        if len(found) == 1 or (tags == ["position", "velocity"] and is_undamped):
            for element, index, tag in found:
                _rewrite(element, {} if defaults is None else _inherited(defaults, element.get("class")), tag)
                _write_law(element, model, index, tag)


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
    is_direct = is_plain and _has_one_axis(model, index) and np.array_equal(gear, np.eye(6)[0])
    if not is_direct or gain[0] <= 0.0 or bias[0] != 0.0:
        return None
    if gain[0] == -bias[1]:
        return "position"
    return "velocity" if bias[1] == 0.0 and gain[0] == -bias[2] else None


def _has_one_axis(model: Any, index: int) -> bool:
    kinds = (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE)
    return int(model.jnt_type[model.actuator_trnid[index, 0]]) in map(int, kinds)


def _rewrite(element: Element, inherited: dict[str, str], tag: str) -> None:
    attributes = {**inherited, **element.attrib}
    element.tag = tag
    element.attrib.clear()
    element.attrib.update({key: value for key, value in attributes.items() if key not in _LAW})


def _write_law(element: Element, model: Any, index: int, tag: str) -> None:
    gain, damping = model.actuator_gainprm[index, 0], -model.actuator_biasprm[index, 2]
    if tag == "velocity":
        element.set("kv", repr(float(gain)))
        return
    element.set("kp", repr(float(gain)))
    if damping:
        element.set("kv", repr(float(damping)))


def _inherited(defaults: Element, name: str | None) -> dict[str, str]:
    """Return the attributes that the classes down to one give to general actuators."""
    general = defaults.find("general")
    own = {} if general is None else dict(general.attrib)
    if name is None or defaults.get("class", "main") == name:
        return own
    for child in defaults.findall("default"):
        if any(each.get("class") == name for each in child.iter("default")):
            return {**own, **_inherited(child, name)}
    return own
