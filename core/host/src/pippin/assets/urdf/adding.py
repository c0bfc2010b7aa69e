"""Addition of a URDF to a builder, without the visual meshes that Newton's importer cannot read."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import newton
from pippin.assets.fidelity.pairs import solid_shapes

from .reading import Urdf


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
            return _part_neighbours(builder)


def _part_neighbours(builder: newton.ModelBuilder) -> None:
    """Filter collisions between fixed links and their neighbours.

    MuJoCo, too, takes such links for one body, and lets no body collide with those that a joint ties to it. The
    importer parts the two links of each joint alone.
    """
    fixed = int(newton.JointType.FIXED)
    carriers = {
        child: parent
        for kind, parent, child in zip(builder.joint_type, builder.joint_parent, builder.joint_child, strict=True)
        if kind == fixed and parent >= 0
    }
    shapes: dict[int, list[int]] = {}
    for shape in solid_shapes(builder):
        shapes.setdefault(_carrier(carriers, builder.shape_body[shape]), []).append(shape)
    joints = zip(builder.joint_parent, builder.joint_child, strict=True)
    for parent, child in {tuple(sorted(_carrier(carriers, body) for body in joint)) for joint in joints}:
        for first in shapes.get(parent, ()) if parent >= 0 else ():
            for second in shapes.get(child, ()):
                if first != second:
                    builder.add_shape_collision_filter_pair(first, second)


def _carrier(carriers: Mapping[int, int], body: int) -> int:
    while body in carriers:
        body = carriers[body]
    return body


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
