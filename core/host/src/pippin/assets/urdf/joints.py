"""Joints of a URDF: limits and mimics as the specification and ROS's own files mean them."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from pippin.spelling import did_you_mean

from .tree import Robot, number

AXIAL = ("revolute", "continuous", "prismatic")


def repair_joints(robot: Robot) -> None:
    """Complete and correct the limits, and leave out the mimics that move nothing.

    Every change is a note of the robot; what has no meaning is a fault.
    """
    for name, joint in robot.joints.items():
        if joint.get("type") in AXIAL:
            _check_axis(robot, joint)
            _mend_range(robot, name, joint)
            _mend_maxima(robot, name, joint)
        elif joint.get("type") == "planar":
            robot.note("planar joints slide along two axes and do not rotate; joints", name)
    _mend_mimics(robot)


def _check_axis(robot: Robot, joint: Element) -> None:
    axis = joint.find("axis")
    text = "1 0 0" if axis is None else axis.get("xyz", "1 0 0")
    try:
        values = [float(part) for part in text.split()]
    except ValueError:
        return  # the importer refuses it
    if len(values) != 3 or not any(values):
        robot.fault(joint, f'<axis xyz="{text}"> is not a direction; give three numbers that are not all 0')


def _mend_range(robot: Robot, name: str, joint: Element) -> None:
    limit = joint.find("limit")
    if limit is None or not {"lower", "upper"} & limit.attrib.keys():
        return  # URDF wants a range; no file without one means that the joint cannot move
    lower, upper = (number(limit, end, 0.0) for end in ("lower", "upper"))  # 0 is URDF's default
    if lower is None or upper is None:
        return
    if joint.get("type") == "continuous":
        _unlimit(limit)
        if (lower, upper) != (0.0, 0.0):
            robot.note("a continuous joint has no limits; lower and upper are left out; joints", name)
    elif lower > upper:
        _unlimit(limit)
        robot.note("lower is above upper: read as no limits; correct them; joints", name)
    elif lower == upper == 0.0:
        _unlimit(limit)
        robot.note("lower and upper are 0: read as no limits; set type = fixed to hold them; joints", name)
    elif lower == upper:
        robot.fault(
            joint, f"lower and upper are both {lower:g}; set type = fixed and turn its <origin>, or correct them"
        )
    else:
        limit.attrib |= {"lower": f"{lower!r}", "upper": f"{upper!r}"}


def _unlimit(limit: Element) -> None:
    for end in ("lower", "upper"):
        limit.attrib.pop(end, None)


def _mend_maxima(robot: Robot, name: str, joint: Element) -> None:
    limit = joint.find("limit")
    for maximum in ("effort", "velocity"):
        value = number(limit, maximum, 1.0)
        if limit is not None and value is not None and value <= 0.0:
            del limit.attrib[maximum]
            robot.note(f"{maximum} = {value:g} is read as no limit; joints", name)


def _mend_mimics(robot: Robot) -> None:
    joints = robot.joints
    followers = {name: joint for name, joint in joints.items() if joint.find("mimic") is not None}
    for name, joint in list(followers.items()):
        if joint.get("type") == "fixed":
            _drop_mimic(joint)
            del followers[name]
            robot.note("a fixed joint cannot mimic another one; <mimic> is left out; joints", name)
    while followers:
        followers = {name: joint for name, joint in followers.items() if not _settle(robot, name, joint, joints)}
        if not any(joints[_reference(joint)].get("type") == "fixed" for joint in followers.values()):
            return


def _settle(robot: Robot, name: str, joint: Element, joints: dict[str, Element]) -> bool:
    """Return whether nothing is left to do for a follower: it is refused, or fixed as the joint that it mimics is."""
    reference = _reference(joint)
    if reference not in joints:
        cure = did_you_mean(reference, joints) or "; correct the name, or leave <mimic> out"
        robot.fault(joint, f"mimics {reference!r}, which is not a joint of the file{cure}")
        return True
    for each in (joint, joints[reference]):
        if each.get("type") not in (*AXIAL, "fixed"):
            robot.fault(joint, f"mimics {reference!r}, and {each.get('type')} joints neither mimic nor are mimicked")
            return True
    if joints[reference].get("type") != "fixed":
        return False
    if number(joint.find("mimic"), "offset", 0.0):
        robot.fault(joint, f"mimics {reference!r}, which is fixed, with an offset; set type = fixed, turn its <origin>")
        return True
    joint.set("type", "fixed")
    _drop_mimic(joint)
    robot.note(f"fixed, since it mimics the fixed joint {reference!r}; joints", name)
    return True


def _reference(joint: Element) -> str:
    return getattr(joint.find("mimic"), "attrib", {}).get("joint", "")


def _drop_mimic(joint: Element) -> None:
    for mimic in joint.findall("mimic"):
        joint.remove(mimic)
