"""Visual meshes that cannot be read: a robot without them moves in the same way."""

from __future__ import annotations

from xml.etree import ElementTree

__all__ = ["without_mesh"]


def without_mesh(text: str, reason: str) -> tuple[str, str] | None:
    """Return a URDF without the visual mesh that stopped an importer, and a note; None if a visual is not the cause.

    Args:
        text: The URDF, with absolute paths of meshes.
        reason: The importer's message, which holds the path.
    """
    root = ElementTree.fromstring(text)
    names = {mesh.get("filename", "") for mesh in root.iterfind("link/collision/geometry/mesh")}
    lost = None
    for link in root.iterfind("link"):
        for visual in link.findall("visual"):
            found = [mesh.get("filename", "") for mesh in visual.iterfind("geometry/mesh")]
            if any(name and name in reason and name not in names for name in found):
                link.remove(visual)
                lost = found[0]
    if lost is None:
        return None
    return ElementTree.tostring(root, encoding="unicode"), f"visual mesh {lost!r} is not drawn: {reason}"
