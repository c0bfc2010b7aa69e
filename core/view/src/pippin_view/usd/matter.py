"""Matter on a USD stage: meshes, points and curves, and where their points are in a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.matter import RenderMatter, RenderTendon
from pippin.quaternions import rotated
from pxr import Gf, UsdGeom, Vt


@attrs.frozen(kw_only=True, eq=False)
class MovingPoints:
    """The points of a prim, each of which is a particle, or a point of a body."""

    name: str
    """Path of the attribute."""

    elements: np.ndarray
    """Index of the particle or the body of each point, shape [points]."""

    on_bodies: np.ndarray | None = None
    """Positions in the frames of the bodies [m], shape [points, 3]; None for particles."""

    offset: np.ndarray
    """Displacement in the simulation's frame, at which the world is drawn [m], shape [3]."""

    def positions(self, body_q: np.ndarray, particle_q: np.ndarray) -> np.ndarray:
        """Return the positions in the simulation's frame [m], shape [points, 3]."""
        if self.on_bodies is None:
            return particle_q[self.elements] + self.offset
        poses = body_q[self.elements]
        return rotated(poses[:, 3:], self.on_bodies) + poses[:, :3] + self.offset


@attrs.frozen(kw_only=True, eq=False)
class MovingTendon:
    """The points of a curve that is a tendon."""

    name: str
    """Path of the attribute."""

    seen: RenderTendon
    offset: np.ndarray
    """Displacement in the simulation's frame, at which the world is drawn [m], shape [3]."""

    def positions(self, body_q: np.ndarray, particle_q: np.ndarray) -> np.ndarray:
        """Return the positions in the simulation's frame [m], shape [points, 3]."""
        return self.seen.points(body_q) + self.offset


def add_particles(stage: Any, path: str, seen: RenderMatter, offset: np.ndarray) -> MovingPoints:
    """Define a mesh, or points without triangles, and return its points."""
    if len(seen.faces):
        gprim: Any = UsdGeom.Mesh.Define(stage, path)
        gprim.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(seen.faces), 3, dtype=np.int32)))
        gprim.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(seen.faces.astype(np.int32).ravel()))
        gprim.CreateSubdivisionSchemeAttr("none")
        gprim.CreateDoubleSidedAttr(True)
    else:
        gprim = UsdGeom.Points.Define(stage, path)
        _set_width(gprim, seen.radius)
    _finish(gprim, seen.label, seen.color)
    return MovingPoints(name=f"{path}.points", elements=seen.particles, offset=offset)


def add_cable(stage: Any, path: str, model: newton.Model, seen: RenderMatter, offset: np.ndarray) -> MovingPoints:
    """Define a curve through the start of each segment of a cable and the end of the last one; return its points."""
    bodies = on_host(model.shape_body).tolist()
    shapes = np.array([bodies.index(body) for body in seen.bodies])
    length, poses = on_host(model.shape_scale)[shapes, 1], on_host(model.shape_transform)[shapes]
    ends = [rotated(poses[:, 3:], length[:, None] * (0.0, 0.0, side)) + poses[:, :3] for side in (-1.0, 1.0)]
    curve: Any = UsdGeom.BasisCurves.Define(stage, path)
    curve.CreateTypeAttr("linear")
    curve.CreateCurveVertexCountsAttr([len(shapes) + 1])
    _set_width(curve, seen.radius)
    _finish(curve, seen.label, seen.color)
    elements = np.append(seen.bodies, seen.bodies[-1])
    on_bodies = np.concatenate([ends[0], ends[1][-1:]])
    return MovingPoints(name=f"{path}.points", elements=elements, on_bodies=on_bodies, offset=offset)


def add_tendon(stage: Any, path: str, seen: RenderTendon, radius: float, offset: np.ndarray) -> MovingTendon:
    """Define a curve through the guides of a tendon, and return its points."""
    curve: Any = UsdGeom.BasisCurves.Define(stage, path)
    curve.CreateTypeAttr("linear")
    curve.CreateCurveVertexCountsAttr([seen.point_count])
    _set_width(curve, radius)
    _finish(curve, seen.label, seen.color)
    return MovingTendon(name=f"{path}.points", seen=seen, offset=offset)


def linear_color(color: np.ndarray) -> np.ndarray:
    """Return the linear colour of an sRGB colour, as USD has it."""
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def _set_width(gprim: Any, radius: float) -> None:
    gprim.CreateWidthsAttr([2.0 * radius])
    gprim.SetWidthsInterpolation("constant")


def _finish(gprim: Any, label: str, color: Sequence[float]) -> None:
    """Give a prim its points, which have samples later, its name and its colour."""
    gprim.CreatePointsAttr()
    gprim.GetPrim().SetDisplayName(label)
    gprim.CreateDisplayColorAttr([Gf.Vec3f(*linear_color(np.array(color)).tolist())])
