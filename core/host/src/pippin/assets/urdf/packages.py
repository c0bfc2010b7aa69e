"""ROS packages: the folders that `package://name`, `model://name` and `$(find name)` stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname
from xml.etree import ElementTree

import attrs

SCHEMES = ("package://", "model://")
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
            return "there is no such file; correct the path"
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
    return _path_of(uri).partition("/")[0] if uri.startswith(SCHEMES) else None


def _path_of(uri: str) -> str:
    """Return the text behind the scheme; a third slash, as in `package:///name/path`, has no meaning."""
    return uri.partition("://")[2].lstrip("/")


def _in_or_at(folder: Path, name: str) -> Iterator[Path]:
    """Yield the package of a name that is in a folder, and the folder if it is that package itself."""
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
