"""Geometry of a URDF: meshes and textures by absolute paths, and only shapes that URDF has."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from .packages import Packages, package_of
from .tree import Robot

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

    A collision mesh that is not found is a fault, one for each missing package or file. A visual mesh that is not found
    is not drawn, which is one note for all of them.
    """
    missing: dict[str, list[tuple[str, Element, str]]] = {}
    for name, link in robot.links.items():
        for collision in link.findall("collision"):
            _check_shapes(robot, link, collision)
            for mesh in _meshes(collision):
                if not _resolve(mesh, packages):
                    uri = mesh.get("filename", "")
                    missing.setdefault(package_of(uri) or uri, []).append((name, mesh, uri))
    for found in missing.values():
        _refuse(robot, packages, found)
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


def _meshes(part: Element) -> Iterator[Element]:
    for mesh in part.iterfind("geometry/mesh"):
        if "filename" in mesh.attrib:
            yield mesh


def _resolve(element: Element, packages: Packages) -> bool:
    """Write the absolute path of a file into an element, and return whether there is such a file."""
    file = packages.find_file(element.get("filename", ""))
    if file is None:
        return False
    element.set("filename", str(file.absolute()))
    return True


def _refuse(robot: Robot, packages: Packages, found: list[tuple[str, Element, str]]) -> None:
    name, mesh, uri = found[0]
    others = f", and {len(found) - 1} more" if found[1:] else ""
    robot.faults.append(
        f"collision mesh {uri!r} of link {name!r} ({robot.position(mesh)}){others}: {packages.cure(uri)}"
    )


def _resolve_visuals(robot: Robot, packages: Packages) -> None:
    missing: list[str] = []
    for link in robot.links.values():
        for visual in link.findall("visual"):
            lost = [mesh.get("filename", "") for mesh in _meshes(visual) if not _resolve(mesh, packages)]
            if lost:
                link.remove(visual)
                missing += lost
    for material in [*robot.root.iter("material")]:
        for texture in material.findall("texture"):
            if "filename" in texture.attrib and not _resolve(texture, packages):
                material.remove(texture)
                missing.append(texture.get("filename", ""))
    if missing:
        count = (
            "one visual mesh or texture is" if len(missing) == 1 else f"{len(missing)} visual meshes or textures are"
        )
        robot.note(f"{count} not drawn, the first is {missing[0]!r}: {packages.cure(missing[0])}")
