"""Tree of links and joints of a URDF: parsed with the line of every element, and checked for one root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

import attrs
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")

VECTORS = {"origin": ("xyz", "rpy"), "box": ("size",), "mesh": ("scale",)}
"""The attributes of three numbers, by element."""

_IDLE = {
    *("calibration", "hardwareInterface", "material", "mechanicalReduction", "plugin", "ros2_control"),
    *("safety_controller", "sensor", "type", "verbose", "visual"),
}
"""Elements that say nothing about the motion of the robot."""

_READ = {
    *("actuator", "axis", "box", "capsule", "child", "collision", "contact", "cylinder", "dynamics", "gazebo"),
    *("geometry", "inertia", "inertial", "joint", "limit", "link", "mass", "mesh", "mimic", "mujoco", "origin"),
    *("parent", "robot", "sphere", "transmission"),
}
"""Elements that the importer reads, or whose content is looked at."""


@attrs.define(eq=False)
class Robot:
    """The elements of a URDF, and what is found wrong with them."""

    root: ElementTree.Element

    place: str
    """The file's name, for errors."""

    lines: Mapping[ElementTree.Element, int] | None
    """The line of each element; None if the text is not that of the file."""

    faults: list[str] = attrs.field(factory=list)
    """Faults that only the user can repair, each with its place and cure."""

    kinds: dict[str, list[str]] = attrs.field(factory=dict)
    """Names of the links or joints that were repaired, by the kind of repair."""

    @property
    def links(self) -> dict[str, ElementTree.Element]:
        """The links by name."""
        return {link.get("name", ""): link for link in self.root.findall("link")}

    @property
    def joints(self) -> dict[str, ElementTree.Element]:
        """The joints by name."""
        return {joint.get("name", ""): joint for joint in self.root.findall("joint")}

    @property
    def notes(self) -> list[str]:
        """One line for each kind of repair, with the names that it concerns."""
        return [f"{kind}: {', '.join(map(repr, names))}" if names else kind for kind, names in self.kinds.items()]

    def note(self, kind: str, *names: str) -> None:
        """Add a repair to the notes."""
        self.kinds.setdefault(kind, []).extend(names)

    def note_unread(self) -> None:
        """Note the elements of other programs, such as those in `<gazebo>`."""
        for part in self.root:
            if unread := ", ".join(f"<{tag}>" for tag in sorted(_unread(part))):
                name = part.get("name") or part.get("reference", "robot")
                self.note(f"left out: {unread}, which other programs read; links or joints", name)

    def fault(self, element: ElementTree.Element, text: str) -> None:
        """Add a fault of a link or joint, or of an element whose place is enough to find it."""
        name = element.get("name")
        what = f"{element.tag} {name!r}" if name is not None else f"<{element.tag}>"
        self.faults.append(f"{what} ({self.position(element)}): {text}")

    def position(self, element: ElementTree.Element) -> str:
        """Return the place of an element: `arm.urdf, line 7`."""
        return self.place if self.lines is None else f"{self.place}, line {self.lines[element]}"


def parse(text: bytes, file: Path, where: str, *, has_lines: bool = True) -> Robot:
    """Return the robot of a URDF whose links and joints make one tree.

    Without `has_lines`, the lines of the text are not those of the file.

    Raises:
        ConfigError: The text is not well-formed, or its links make no tree; one fault for each wrong link or joint.
    """
    builder, lines, parser = ElementTree.TreeBuilder(), {}, expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ConfigError(f"{where}.path: {str(file)!r} is not well-formed XML ({error}); correct the file") from error
    robot = Robot(builder.close(), file.name, lines if has_lines else None)
    _check(robot)
    if robot.faults:
        raise ConfigError(*(f"{where}.path: {fault}" for fault in robot.faults))
    return robot


def number(element: ElementTree.Element | None, attribute: str, default: float) -> float | None:
    """Return an attribute as a number, or the default; None for another text, which the importer refuses itself."""
    text = None if element is None else element.get(attribute)
    if text is None:
        return default
    try:
        return float(text)
    except ValueError:
        return None


def _unread(element: ElementTree.Element) -> set[str]:
    if element.tag in _IDLE:
        return set()
    return ({element.tag} - _READ).union(*map(_unread, element))


def _check(robot: Robot) -> None:
    if not robot.links:
        robot.fault(robot.root, "has no <link>, so there is nothing to simulate; name another file")
        return
    for kind in ("link", "joint"):
        _check_names(robot, kind)
    for joint in robot.root.findall("joint"):
        _check_joint(robot, joint)
    for element in robot.root.iter():
        _check_vectors(robot, element)
    if not robot.faults:
        _check_roots(robot)


def _check_names(robot: Robot, kind: str) -> None:
    elements = robot.root.findall(kind)
    counts = Counter(element.get("name") for element in elements)
    for element in elements:
        name = element.get("name")
        if not name:
            robot.fault(element, "has no name; give it one")
        elif counts[name] > 1:
            robot.fault(element, f"{counts[name]} {kind}s have this name; rename all but one")
        elif kind == "link" and "'" in name:
            robot.fault(element, "its name has an apostrophe, which Newton's importer cannot read; rename the link")


def _check_joint(robot: Robot, joint: ElementTree.Element) -> None:
    kind = joint.get("type")
    if kind not in JOINT_TYPES:
        robot.fault(joint, f"type {kind!r} is none of URDF; use one of {', '.join(JOINT_TYPES)}")
    for tag in ("parent", "child"):
        end = joint.find(tag)
        link = None if end is None else end.get("link")
        if link is None:
            robot.fault(joint, f"has no <{tag} link=…>; add it")
        elif link not in robot.links:
            cure = did_you_mean(link, robot.links) or "; correct the name"
            robot.fault(joint, f"its {tag} {link!r} is not a link of the file{cure}")


def _check_vectors(robot: Robot, element: ElementTree.Element) -> None:
    for attribute in VECTORS.get(element.tag, ()):
        text = element.get(attribute, "").strip()
        if "$(" in text or "${" in text:
            robot.fault(
                element, f"{attribute} = {text!r} is a macro; let the file end in .xacro, so that it is expanded"
            )
        elif text and len(text.split()) != 3:
            robot.fault(element, f"{attribute} = {text!r} has {len(text.split())} numbers; give three")


def _check_roots(robot: Robot) -> None:
    children = Counter(ends(joint)[1] for joint in robot.joints.values())
    for link, count in children.items():
        if count > 1:
            robot.fault(
                robot.links[link], f"is the child of {count} joints; leave all but one out, a URDF has no loops"
            )
    roots = [link for link in robot.links if link not in children]
    if not roots:
        robot.fault(robot.root, "every link is the child of a joint, so no link is the root; a URDF has no loops")
    elif len(roots) > 1:
        names = ", ".join(map(repr, roots))
        robot.fault(robot.root, f"has {len(roots)} links that no joint joins to a parent: {names}; join all but one")


def ends(joint: ElementTree.Element) -> tuple[str, str]:
    """Return the names of a joint's parent and child."""
    # pyrefly: ignore[bad-return]
    return tuple(end.get("link", "") for tag in ("parent", "child") for end in joint.findall(tag)[:1])
