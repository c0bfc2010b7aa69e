"""Addition of a URDF to a builder, without the visual meshes that Newton's importer cannot read."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from .reading import Urdf

if TYPE_CHECKING:
    import newton


def add_urdf(builder: newton.ModelBuilder, urdf: Urdf, arguments: Mapping[str, Any]) -> None:
    """Add a URDF to a builder that holds little, with arguments of `add_urdf`; each of its notes is a warning.

    A visual mesh stops the importer if it holds no triangle, for example. It is left out, with a warning, and the
    importer begins again. What else the importer raises passes through.
    """
    for note in urdf.notes:
        warnings.warn(note, UserWarning, stacklevel=3)
    text, blank = urdf.text, copy.deepcopy(builder)
    while True:
        try:
            builder.add_urdf(text, **arguments)
        except ValueError as error:
            rest = without_mesh(text, str(error))
            if rest is None:
                raise
            text, note = rest
            warnings.warn(note, UserWarning, stacklevel=3)
            vars(builder).update(copy.deepcopy(vars(blank)))
        else:
            return


def without_mesh(text: str, reason: str) -> tuple[str, str] | None:
    """Return a URDF without the visual mesh that stopped an importer, and a note; None if a visual is not the cause.

    The paths of meshes are absolute, and the importer's message, the reason, holds that of the mesh.
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
