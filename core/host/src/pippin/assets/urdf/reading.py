"""Reading of a URDF or xacro file: files that it names, its text for the importer, and notes on what was changed."""

from __future__ import annotations

import contextlib
import glob
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import attrs
from pippin.assets.elements import read_xml
from pippin.catalog.outside import is_trusted
from pippin.config.files import find_folder
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError

from .repairs import repair_joints, repair_masses, weigh_shapes
from .tree import Robot, parse

VARIABLES = {"ROS_PACKAGE_PATH": "", "AMENT_PREFIX_PATH": "share", "GZ_SIM_RESOURCE_PATH": ""}
"""Environment variables that list folders, and the place of the packages in each of these folders."""


@attrs.frozen
class Packages:
    """The search for packages, and for the files that a URDF names.

    A package is looked for above the file, where its folder or a neighbour has the package's name, or a `package.xml`
    gives it; then in the folders of the configuration; then in those of ROS's variables.
    """

    file: Path
    """The file whose names are resolved."""

    folders: Sequence[Path] = ()
    """Folders that hold packages, or are packages."""

    def find_file(self, uri: str) -> Path | None:
        """Return the existing file that a path or a URI means, or None; nothing is asked of the network."""
        return next((path for path in self._candidates(uri) if path.is_file()), None)

    def find_package(self, name: str) -> Path | None:
        """Return the first folder of a package, or None."""
        return next(self._packages(name), None)

    def cure(self, uri: str) -> str:
        """Return what is wrong with a name for which there is no file, and what to do about it."""
        name = package_of(uri)
        if is_remote(uri):
            return "Pippin downloads nothing; download it, and name the file"
        if name is None:
            own, last = self.file.parent, glob.escape(PurePosixPath(uri).name or uri)
            beside = next((f"; {str(each.relative_to(own))!r} has its name" for each in own.rglob(last)), "")
            return f"there is no such file{beside}; correct the path"
        package = self.find_package(name)
        if package is not None:
            return f"package {name!r} ({str(package)!r}) has no such file; correct the path"
        return (
            f"no package {name!r} above the file, in package_dirs or in {', '.join(VARIABLES)};"
            f" name in package_dirs a folder that holds one of exactly this name, or with this name in a package.xml"
        )

    def _candidates(self, uri: str) -> Iterator[Path]:
        if is_remote(uri):
            return
        if uri.lower().startswith("file:"):
            yield Path(url2pathname(urlsplit(uri).path))
        elif (name := package_of(uri)) is not None:
            inside = _path_of(uri).partition("/")[2]
            for package in self._packages(name):
                yield package / inside
                yield package / unquote(inside)
        else:
            yield self.file.parent / uri

    def _packages(self, name: str) -> Iterator[Path]:
        if not name:
            return
        for folder in self.file.absolute().parents:
            yield from _in_or_at(folder, name)
        for folder in self.folders:
            yield from _in_or_at(folder, name)
        for variable, place in VARIABLES.items():
            for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
                yield from _in_or_at(Path(entry, place), name)
                yield from (path for path in sorted(Path(entry, place).glob(f"*/{name}")) if path.is_dir())


def is_remote(uri: str) -> bool:
    """Tell whether a name is one of the network."""
    return uri.lower().startswith(("http:", "https:"))


def package_of(uri: str) -> str | None:
    """Return the package that a URI names; None if it names none."""
    return _path_of(uri).partition("/")[0] if uri.startswith(("package://", "model://")) else None


def _path_of(uri: str) -> str:
    """Return the text behind the scheme; a third slash, as in `package:///name/path`, has no meaning."""
    return uri.partition("://")[2].lstrip("/")


def _in_or_at(folder: Path, name: str) -> Iterator[Path]:
    if _declared_name(folder) == name or folder.name == name:
        yield folder
    if (folder / name).is_dir():
        yield folder / name


def _declared_name(folder: Path) -> str | None:
    manifest = folder / "package.xml"
    if not manifest.is_file():
        return None
    try:
        name = ElementTree.parse(manifest).findtext("name")
    except ElementTree.ParseError:  # not the file in question: its folder may still have the right name
        return None
    return name.strip() if name else None


_NEEDED = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "mesh": ("filename",),
}
"""The shapes, and the attributes that each must have."""


def resolve_geometry(robot: Robot, packages: Packages) -> None:
    """Replace the names of meshes and textures by absolute paths.

    A collision mesh that is not found is a fault, one for each missing package or folder. A visual mesh that is not
    found is not drawn, which is one note for all of them.
    """
    missing: dict[str, list[tuple[str, Element, str]]] = {}
    for name, link in robot.links.items():
        for collision in link.findall("collision"):
            _check_shapes(robot, link, collision)
            for mesh in collision.iterfind("geometry/mesh[@filename]"):
                if not _resolve(mesh, packages):
                    uri = mesh.get("filename", "")
                    missing.setdefault(package_of(uri) or str(PurePosixPath(uri).parent), []).append((name, mesh, uri))
    for found in missing.values():
        name, mesh, uri = found[0]
        others = f", and {len(found) - 1} more" if found[1:] else ""
        place = f"collision mesh {uri!r} of link {name!r} ({robot.position(mesh)})"
        robot.faults.append(f"{place}{others}: {packages.cure(uri)}")
    _resolve_visuals(robot, packages)


def _check_shapes(robot: Robot, link: Element, collision: Element) -> None:
    geometry = collision.find("geometry")
    shapes = [] if geometry is None else [shape for shape in geometry if shape.tag in _NEEDED]
    if not shapes:
        found = " and ".join(f"<{shape.tag}>" for shape in ([] if geometry is None else geometry)) or "empty"
        robot.fault(link, f"the geometry of a <collision> is {found}; give one of {', '.join(_NEEDED)}")
    for shape in shapes:
        if shape.tag == "capsule" and "length" in shape.attrib:
            shape.attrib.setdefault("height", shape.attrib["length"])  # the importer's name for it
        elif shape.tag == "capsule" and "height" in shape.attrib:
            continue
        for attribute in _NEEDED[shape.tag]:
            if attribute not in shape.attrib:
                robot.fault(link, f"<{shape.tag}> of a <collision> has no {attribute}; add it")


def _resolve(element: Element, packages: Packages) -> bool:
    file = packages.find_file(element.get("filename", ""))
    if file is None:
        return False
    element.set("filename", str(file.absolute()))
    return True


def _resolve_visuals(robot: Robot, packages: Packages) -> None:
    missing: list[str] = []
    for link in robot.links.values():
        for visual in link.findall("visual"):
            lost = [
                mesh.get("filename", "")
                for mesh in visual.iterfind("geometry/mesh[@filename]")
                if not _resolve(mesh, packages)
            ]
            if lost:
                link.remove(visual)
                missing += lost
    for material in [*robot.root.iter("material")]:
        for texture in material.findall("texture[@filename]"):
            if not _resolve(texture, packages):
                material.remove(texture)
                missing.append(texture.get("filename", ""))
    if missing:
        count = (
            "one visual mesh or texture is" if len(missing) == 1 else f"{len(missing)} visual meshes or textures are"
        )
        robot.note(f"{count} not drawn, the first is {missing[0]!r}: {packages.cure(missing[0])}")


def expand(file: Path, arguments: Mapping[str, str], packages: Packages, where: str) -> bytes:
    """Return the URDF of a xacro file, with values of its `<xacro:arg>` and a search behind `$(find name)`."""
    if not is_trusted(str(file)):
        raise ConfigError(f"{where}.path: the Python in the expressions of {str(file)!r} would run; add --trust")
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
    """Let `$(find name)` search as `package://name` does, in place of ROS's index, which is not part of the library."""

    def find(name: str) -> str:
        folder = packages.find_package(name)
        if folder is None:
            # The library's own error says it twice.
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
    robot.note_unread()
    repair_joints(robot)
    if config.inertia == "shapes":
        weigh_shapes(robot, floating=bool(config.floating))
    else:
        repair_masses(robot, floating=bool(config.floating))
    resolve_geometry(robot, packages)
    if robot.faults:
        raise ConfigError(*(f"{where}.path: {fault}" for fault in robot.faults))
    return Urdf(ElementTree.tostring(robot.root, encoding="unicode"), robot.notes)
