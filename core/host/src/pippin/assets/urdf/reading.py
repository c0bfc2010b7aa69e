"""Reading of a URDF: its text as the importer should see it, and the notes on what was changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import attrs
from pippin.assets.elements import read_xml
from pippin.config.files import find_folder
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError

from .geometry import resolve_geometry
from .joints import repair_joints
from .macros import expand, is_xacro
from .masses import repair_masses, weigh_shapes
from .packages import Packages
from .tree import parse


@attrs.frozen
class Urdf:
    """A URDF that Newton's importer reads as its file means it."""

    text: str
    """The XML, with absolute paths of meshes."""

    notes: Sequence[str]
    """One line for each kind of repair, with the names of the links or joints."""


def read_urdf(file: Path, config: AssetConfig, where: str) -> Urdf:
    """Return the robot of a URDF or xacro file."""
    packages = Packages(file, [find_folder(each, f"{where}.package_dirs") for each in config.package_dirs])
    if is_xacro(file):
        text = expand(file, config.xacro_args, packages, where)
    elif config.xacro_args:
        raise ConfigError(f"{where}.xacro_args: {file.name!r} is not a xacro file; leave the arguments out")
    else:
        text = read_xml(file)
    robot = parse(text, file, where, has_lines=not is_xacro(file))
    repair_joints(robot)
    if config.inertia == "shapes":
        weigh_shapes(robot, floating=bool(config.floating))
    else:
        repair_masses(robot, floating=bool(config.floating))
    resolve_geometry(robot, packages)
    if robot.faults:
        raise ConfigError(*(f"{where}.path: {fault}" for fault in robot.faults))
    return Urdf(ElementTree.tostring(robot.root, encoding="unicode"), robot.notes)
