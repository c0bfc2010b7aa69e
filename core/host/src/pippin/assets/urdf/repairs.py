"""Repairs of a URDF: joints as the specification and ROS's own files mean them, and masses that a body can have."""

from __future__ import annotations

import math
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from pippin.spelling import did_you_mean

from .tree import Robot, ends, number

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


LEAST_MASS = 1e-3
"""Mass of a link that moves although the file gives it none [kg]."""

LEAST_INERTIA = 1e-6
"""Principal moments of inertia of such a link [kg·m²]."""

MARGIN = 1e-5
"""Least second moment in a principal direction, relative to the trace; a solver in single precision needs it."""

LEAST = 1e-10
"""Least second moment [kg·m²]; to a body below it, Newton would add 1e-6 kg·m² instead."""

ROUNDING = 1e-4
"""Relative change of an inertia up to which it is still what the file says."""

WATER = 1000.0
"""Density of the sphere that stands for a body without a stated inertia [kg/m³]."""

_ENTRIES = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}


def repair_masses(robot: Robot, *, floating: bool) -> None:
    """Give every part that moves a mass, and make every inertia one that a body can have.

    A part is all the links that fixed joints join. A link without <inertial> has no mass, as the specification says;
    only if a whole part has none, its shapes give the mass, or else it is very small. Every change is a note.
    """
    for name, link in robot.links.items():
        _mend_inertial(robot, name, link)
    weighed = [name for part in _parts(robot, floating=floating) for name in _mend_part(robot, part)]
    for name, link in robot.links.items():
        if not _has_inertial(link) and name not in weighed:
            _write(link, 0.0, np.zeros((3, 3)))


def weigh_shapes(robot: Robot, *, floating: bool) -> None:
    """Leave masses and inertias to the shapes, whatever the file states. A part without shapes gets very small ones."""
    for link in robot.links.values():
        for inertial in link.findall("inertial"):
            link.remove(inertial)
    for names in _parts(robot, floating=floating):
        if all(robot.links[name].find("collision") is None for name in names):
            _mend_part(robot, names)


def _parts(robot: Robot, *, floating: bool) -> Iterable[list[str]]:
    """Yield the links of each part that moves, the one nearest to the root first."""
    joints = {ends(joint)[1]: joint for joint in robot.joints.values()}
    parts: dict[str, list[str]] = {}
    for link in robot.links:
        parts.setdefault(_head(link, joints), []).append(link)
    for head, links in parts.items():
        if head in joints or floating:
            yield [head, *(link for link in links if link != head)]


def _head(link: str, joints: dict[str, Element]) -> str:
    while link in joints and joints[link].get("type") == "fixed":
        link = ends(joints[link])[0]
    return link


def _mend_part(robot: Robot, names: list[str]) -> list[str]:
    """Give a part a mass if it has none, and return the links whose mass their shapes give."""
    if any(_mass(robot.links[name]) != 0.0 for name in names):
        return []
    links = {name: robot.links[name] for name in names}
    shaped = [name for name in names if not _has_inertial(links[name]) and links[name].find("collision") is not None]
    if shaped:
        robot.note("no <inertial>: mass and inertia are those of the collision shapes; links", *shaped)
        return shaped
    robot.note(
        f"they move without a mass: each gets {LEAST_MASS:g} kg and {LEAST_INERTIA:g} kg·m²,"
        " give them an <inertial>; links",
        names[0],
    )
    _write(robot.links[names[0]], LEAST_MASS, np.eye(3) * LEAST_INERTIA)
    return []


def _has_inertial(link: Element) -> bool:
    return link.find("inertial") is not None


def _mass(link: Element) -> float | None:
    inertial = link.find("inertial")
    return 0.0 if inertial is None else number(inertial.find("mass"), "value", 0.0)


def _mend_inertial(robot: Robot, name: str, link: Element) -> None:
    inertial, mass = link.find("inertial"), _mass(link)
    if inertial is None or mass is None:
        return
    if inertial.find("mass") is None or not (math.isfinite(mass) and mass >= 0.0):
        stated = "no <mass>" if inertial.find("mass") is None else f"a mass of {mass:g} kg"
        robot.fault(link, f"its <inertial> has {stated}; give it a mass >= 0")
        return
    tensor = _tensor(inertial.find("inertia"))
    if tensor is None:
        return
    if not np.isfinite(tensor).all():
        robot.fault(link, "its <inertia> is not finite; correct it")
    elif mass == 0.0:
        if tensor.any():
            robot.note("an inertia without a mass is left out; links", name)
        _write(link, 0.0, np.zeros((3, 3)))
    elif np.abs(tensor).max() < LEAST:
        robot.note("no inertia: it is that of a sphere of water of the same mass; links", name)
        _write(link, mass, of_sphere(mass))
    else:
        _balance(robot, name, link, mass, tensor)


def _balance(robot: Robot, name: str, link: Element, mass: float, tensor: np.ndarray) -> None:
    balanced, is_other = repaired(tensor)
    if is_other:
        before, after = (", ".join(f"{moment:.4g}" for moment in principal(each)) for each in (tensor, balanced))
        robot.note(f"inertia ({before}) kg·m² is not that of a body, A + B >= C > 0: it becomes ({after}); links", name)
    if balanced is not tensor:
        _write(link, mass, balanced)


def _tensor(inertia: Element | None) -> np.ndarray | None:
    """Return the tensor of an <inertia>, zero if there is none; None if the importer cannot read a number of it."""
    tensor = np.zeros((3, 3))
    for entry, (row, column) in _ENTRIES.items():
        value = number(inertia, entry, 0.0)
        if value is None:
            return None
        tensor[row, column] = tensor[column, row] = value
    return tensor


def _write(link: Element, mass: float, tensor: np.ndarray) -> None:
    inertial = link.find("inertial")
    inertial = SubElement(link, "inertial") if inertial is None else inertial
    for tag in ("mass", "inertia"):
        for element in inertial.findall(tag):
            inertial.remove(element)
    SubElement(inertial, "mass", value=repr(float(mass)))
    entries = {entry: repr(float(tensor[place])) for entry, place in _ENTRIES.items()}
    SubElement(inertial, "inertia", entries)


def principal(tensor: np.ndarray) -> np.ndarray:
    """Return the principal moments of inertia [kg·m²] in ascending order."""
    return np.linalg.eigvalsh(tensor)


def repaired(tensor: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the nearest inertia of a body whose density is not negative, and whether it differs by more than rounding.

    The second moment of the mass along a principal axis is half the trace less the moment of inertia about the axis. It
    is negative exactly if A + B < C, and then becomes zero: the largest moment C stays, A and B grow until their sum
    is C. Tensors are about the centre of mass [kg·m²], shape [3, 3], symmetric and not all zero.
    """
    moments, axes = np.linalg.eigh(tensor)
    extents = moments.sum() / 2.0 - moments
    largest = float(np.abs(moments).max())
    least = max(LEAST, MARGIN * largest)
    if (extents >= least).all():
        return tensor, False
    raised = np.maximum(extents, least)
    return axes @ np.diag(raised.sum() - raised) @ axes.T, bool((raised - extents > ROUNDING * largest).any())


def of_sphere(mass: float) -> np.ndarray:
    """Return the inertia of a solid sphere of water [kg·m²], shape [3, 3], or the least one if it is smaller."""
    radius = (3.0 * mass / (4.0 * math.pi * WATER)) ** (1.0 / 3.0)
    return np.eye(3) * max(0.4 * mass * radius**2, 2.0 * LEAST)
