"""Reading of a URDF or xacro file: its text as the importer should see it, and the notes on what was changed."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import attrs
from pippin.assets.elements import read_xml
from pippin.config.files import find_folder
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError

from .packages import Packages, resolve_geometry
from .repairs import repair_joints, repair_masses, weigh_shapes
from .tree import parse


def expand(file: Path, arguments: Mapping[str, str], packages: Packages, where: str) -> bytes:
    """Return the URDF of a xacro file, with values of its `<xacro:arg>` and a search behind `$(find name)`."""
    try:
        import xacro
        from xacro import substitution_args
    except ImportError as error:
        what = f"{where}.path: {str(file)!r} is a xacro file, and the library for it is missing"
        raise ConfigError(f"{what}; install pippin[xacro], or use `uv run --group xacro`") from error
    said, missed = io.StringIO(), list[str]()
    try:
        with contextlib.redirect_stderr(said), _finding(substitution_args, packages, missed):
            document: Any = xacro.process_file(str(file), mappings=dict(arguments))
            return document.toxml("utf-8")
    except Exception as error:  # expressions in the file raise errors of any class
        reason = missed[0] if missed else _reason(error, file, arguments)
        raise ConfigError(f"{where}.path: {str(file)!r}: {reason}") from error


@contextlib.contextmanager
def _finding(substitution_args: Any, packages: Packages, missed: list[str]) -> Iterator[None]:
    """Let `$(find name)` search as `package://name` does, in place of ROS's index, which is not part of the library.

    What is not found is added to `missed`: the library's own error says it twice.
    """

    def find(name: str) -> str:
        folder = packages.find_package(name)
        if folder is None:
            missed.append(f"$(find {name}): {packages.cure(f'package://{name}')}")
            raise LookupError(missed[-1])
        return str(folder)

    own = substitution_args._eval_find
    try:
        substitution_args._eval_find = substitution_args._eval_dict["find"] = find
        yield
    finally:
        substitution_args._eval_find = substitution_args._eval_dict["find"] = own


def _reason(error: Exception, file: Path, given: Mapping[str, str]) -> str:
    """Return what the library says on one line, and the remedy that fits, with all arguments of the file."""
    text = " ".join(str(error).split()) or type(error).__name__
    tags = [tag.attrib for tag in ElementTree.parse(file).iter("{http://www.ros.org/wiki/xacro}arg")]
    left = [tag for tag in tags if tag.get("name") not in given]
    missing = ", ".join(tag.get("name", "") for tag in left if "default" not in tag)
    others = ", ".join(f"{tag.get('name')} = {tag['default']!r}" for tag in left if "default" in tag)
    defaults = f"; others have defaults: {others}" if others else ""
    if missing:
        return f"xacro: its arguments {missing} have no value; give them in xacro_args{defaults}"
    if "Undefined substitution argument" in text:
        return f"{text}; give the argument in xacro_args{defaults}"
    return f"xacro: {text}; correct the file, or give other xacro_args{defaults}"


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
    has_macros = file.suffix.lower() == ".xacro"
    if has_macros:
        text = expand(file, config.xacro_args, packages, where)
    elif config.xacro_args:
        raise ConfigError(f"{where}.xacro_args: {file.name!r} is not a xacro file; leave the arguments out")
    else:
        text = read_xml(file)
    robot = parse(text, file, where, has_lines=not has_macros)
    repair_joints(robot)
    if config.inertia == "shapes":
        weigh_shapes(robot, floating=bool(config.floating))
    else:
        repair_masses(robot, floating=bool(config.floating))
    resolve_geometry(robot, packages)
    if robot.faults:
        raise ConfigError(*(f"{where}.path: {fault}" for fault in robot.faults))
    return Urdf(ElementTree.tostring(robot.root, encoding="unicode"), robot.notes)
