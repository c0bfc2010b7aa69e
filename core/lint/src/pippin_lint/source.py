"""Statements of a robot file, before an importer corrects it: masses, moments of inertia, meshes and their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import attrs
import mujoco
import numpy as np


@attrs.frozen(kw_only=True)
class Inertial:
    """Mass and moments of inertia that a file states for a body."""

    name: str
    mass: float
    moments: tuple[float, float, float]
    """Principal moments [kg·m²], the smallest first."""


@attrs.frozen
class RobotSource:
    """The text of a robot file, and what it states."""

    text: str
    word: str
    """What the format calls a body."""
    inertials: tuple[Inertial, ...] = ()
    meshes: tuple[Path, ...] = ()
    """Files of meshes, as far as the file alone says where they are."""
    repeated: tuple[str, ...] = ()
    """Names that two elements of one kind have."""

    def line_of(self, name: str) -> int:
        """Return the first line that has a name in quotes, as a whole or as the end of a path; 1 if none has."""
        found = re.search(rf"""["'](?:[^"'\n]*/)?{re.escape(name)}["']""", self.text)
        return 1 + self.text.count("\n", 0, found.start()) if found else 1


def read_source(file: Path) -> RobotSource:
    """Return what a file says; of another format than MJCF and URDF, its text alone.

    Raises:
        OSError: The file cannot be read.
    """
    text = file.read_text(encoding="utf-8", errors="replace") if file.suffix in (".xml", ".urdf", ".xacro") else ""
    try:
        root = ElementTree.fromstring(text) if text else None
    except ElementTree.ParseError:
        return RobotSource(text, "body")  # the importer says what is wrong
    if root is None or file.suffix == ".xacro":
        return RobotSource(text, "body")
    repeated = tuple(_repeated(root))
    if root.tag == "robot":
        return RobotSource(text, "link", tuple(_of_urdf(root)), tuple(_meshes_of_urdf(root, file)), repeated)
    if root.tag == "mujoco":
        return _of_mjcf(file, text, repeated)
    return RobotSource(text, "body")


def _of_mjcf(file: Path, text: str, repeated: tuple[str, ...]) -> RobotSource:
    try:
        spec: Any = mujoco.MjSpec.from_file(str(file))
    except ValueError:
        return RobotSource(text, "body", repeated=repeated)
    inertials = [
        Inertial(name=body.name, mass=float(body.mass), moments=_principal(_tensor(body)))
        for body in spec.bodies
        if body.explicitinertial
    ]
    folder = file.parent / (spec.meshdir or "")
    meshes = [folder / mesh.file for mesh in spec.meshes if mesh.file]
    return RobotSource(text, "body", tuple(inertials), tuple(meshes), repeated)


def _tensor(body: Any) -> np.ndarray:
    full = np.asarray(body.fullinertia, dtype=float)
    if np.isfinite(full).all():  # xx, yy, zz, xy, xz, yz
        xx, yy, zz, xy, xz, yz = full
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.diag(np.asarray(body.inertia, dtype=float))


def _of_urdf(root: ElementTree.Element) -> Iterator[Inertial]:
    for link in root.iter("link"):
        mass, inertia = link.find("inertial/mass"), link.find("inertial/inertia")
        if mass is None or inertia is None:
            continue
        try:
            xx, xy, xz, yy, yz, zz = (
                float(inertia.get(f"i{axes}", "0")) for axes in ("xx", "xy", "xz", "yy", "yz", "zz")
            )
            value = float(mass.get("value", "0"))
        except ValueError:
            continue  # the importer says which number is none
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        yield Inertial(name=link.get("name", ""), mass=value, moments=_principal(tensor))


def _meshes_of_urdf(root: ElementTree.Element, file: Path) -> Iterator[Path]:
    for mesh in root.iter("mesh"):
        name = mesh.get("filename", "")
        if name and "://" not in name:  # the importer looks for packages
            yield file.parent / name


def _repeated(root: ElementTree.Element) -> Iterator[str]:
    """Yield names that two links or two joints of a URDF have; MuJoCo refuses them in an MJCF."""
    for tag in ("link", "joint"):
        names = [each.get("name", "") for each in root.findall(tag)]
        yield from sorted({name for name in names if name and names.count(name) > 1})


def _principal(tensor: np.ndarray) -> tuple[float, float, float]:
    low, middle, high = np.linalg.eigvalsh(tensor)
    return float(low), float(middle), float(high)
