"""A USD stage of a model's own geometry: shapes that can be seen, under an Xform for each body, and matter."""

# pyright: reportAttributeAccessIssue=false
# OpenUSD has no types.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.matter import (
    RenderMatter,
    RenderShape,
    RenderTendon,
    line_radius,
    render_matter,
    render_shapes,
    render_tendons,
)
from pippin.quaternions import rotated
from pippin.viewing.bounding_box import bounding_box
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt

from .motion import MovingPoints, UsdMotion

_HALF_GROUND = 50.0
"""Half the side of a plane without end [m]."""

_ROOT = "/scene"

Sizes = tuple[float, float, float]
"""Sizes of a shape, as `RenderShape` has them."""


def geometry(path: Path, model: newton.Model, worlds: np.ndarray, offsets: np.ndarray) -> tuple[UsdMotion, list[str]]:
    """Return the motion of a new stage of worlds, displaced by offsets [m], without samples so far, and notes."""
    layer: Any = Sdf.Layer.CreateAnonymous(path.suffix)
    stage: Any = Usd.Stage.Open(layer)
    UsdGeom.SetStageUpAxis(stage, "Z")
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, _ROOT).GetPrim())
    shapes = _ShapeWriter(model, stage, worlds)
    prims, bodies, positions = [], [], []
    matter = render_matter(model, worlds)
    tendons = render_tendons(model, worlds)
    segments = [body for seen in matter for body in seen.bodies]
    points: list[MovingPoints] = []
    points += _add_matter(stage, _ROOT, model, [seen for seen in matter if seen.world < 0], np.zeros(3))
    shapes.add(_ROOT, -1, -1, np.zeros(3))
    for world, offset in zip(worlds.tolist(), offsets, strict=True):
        root = f"{_ROOT}/world_{world}"
        UsdGeom.Xform.Define(stage, root)
        shapes.add(root, world, -1, offset)
        points += _add_matter(stage, root, model, [seen for seen in matter if seen.world == world], offset)
        points += _add_tendons(stage, root, model, [seen for seen in tendons if seen.world == world], offset)
        for body in np.setdiff1d(np.flatnonzero(on_host(model.body_world) == world), segments):
            prims.append(_free_path(stage, root, model.body_label[body]))
            xform: Any = UsdGeom.Xform.Define(stage, prims[-1])
            xform.AddTranslateOp()
            xform.AddOrientOp()
            xform.GetPrim().SetDisplayName(model.body_label[body])
            bodies.append(body)
            positions.append(offset)
            shapes.add(prims[-1], world, int(body), np.zeros(3))
    motion = UsdMotion(
        layer=layer,
        path=path,
        prims=prims,
        bodies=np.array(bodies, dtype=int),
        offsets=np.array(positions, dtype=float).reshape(-1, 3),
        points=points,
    )
    return motion, shapes.notes


def _add_matter(
    stage: Any, root: str, model: newton.Model, matter: Sequence[RenderMatter], offset: np.ndarray
) -> list[MovingPoints]:
    """Define prims of matter below a prim, displaced by an offset [m], and return their points."""
    found = []
    for seen in matter:
        path = _free_path(stage, root, seen.label)
        if len(seen.bodies):
            found.append(_add_cable(stage, path, model, seen, offset))
        else:
            found.append(_add_particles(stage, path, seen, offset))
    return found


def _add_tendons(
    stage: Any, root: str, model: newton.Model, tendons: Sequence[RenderTendon], offset: np.ndarray
) -> list[MovingPoints]:
    """Define curves of tendons of a world below a prim, displaced by an offset [m], and return their points."""
    if not tendons:
        return []
    box = bounding_box(model, model.state(), tendons[0].world)
    radius, found = line_radius(1.0 if box is None else float(np.linalg.norm(box[1] - box[0])) / 2.0), []
    for seen in tendons:
        curve = _curve(stage, _free_path(stage, root, seen.label), seen.point_count, radius)
        found.append(_moving(curve, seen, offset, lambda body_q, _, seen=seen: seen.points(body_q)))
    return found


def _add_particles(stage: Any, path: str, seen: RenderMatter, offset: np.ndarray) -> MovingPoints:
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
    return _moving(gprim, seen, offset, lambda _, particle_q: particle_q[seen.particles])


def _add_cable(stage: Any, path: str, model: newton.Model, seen: RenderMatter, offset: np.ndarray) -> MovingPoints:
    """Define a curve through the start of each segment of a cable and the end of the last one; return its points."""
    bodies = on_host(model.shape_body).tolist()
    shapes = np.array([bodies.index(body) for body in seen.bodies])
    length, poses = on_host(model.shape_scale)[shapes, 1], on_host(model.shape_transform)[shapes]
    ends = [rotated(poses[:, 3:], length[:, None] * (0.0, 0.0, side)) + poses[:, :3] for side in (-1.0, 1.0)]
    owners, on_owners = np.append(seen.bodies, seen.bodies[-1]), np.concatenate([ends[0], ends[1][-1:]])

    def places(body_q: np.ndarray, _: np.ndarray) -> np.ndarray:
        return rotated(body_q[owners, 3:], on_owners) + body_q[owners, :3]

    return _moving(_curve(stage, path, len(owners), seen.radius), seen, offset, places)


def _curve(stage: Any, path: str, point_count: int, radius: float) -> Any:
    curve: Any = UsdGeom.BasisCurves.Define(stage, path)
    curve.CreateTypeAttr("linear")
    curve.CreateCurveVertexCountsAttr([point_count])
    _set_width(curve, radius)
    return curve


def _set_width(gprim: Any, radius: float) -> None:
    gprim.CreateWidthsAttr([2.0 * radius])
    gprim.SetWidthsInterpolation("constant")


def _set_color(gprim: Any, color: Sequence[float]) -> None:
    """Give a prim an sRGB colour, as the linear one that USD has."""
    srgb = np.array(color)
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    gprim.CreateDisplayColorAttr([Gf.Vec3f(*linear.tolist())])


def _moving(gprim: Any, seen: RenderMatter | RenderTendon, offset: np.ndarray, places: Any) -> MovingPoints:
    """Give a prim its name, its colour and its points, which have samples later, and return these."""
    gprim.CreatePointsAttr()
    gprim.GetPrim().SetDisplayName(seen.label)
    _set_color(gprim, seen.color)
    return MovingPoints(name=f"{gprim.GetPath()}.points", offset=offset, places=places)


def _free_path(stage: Any, root: str, label: str) -> str:
    """Return a path below a prim with the last segment of a label, and a number if it is taken."""
    name = Tf.MakeValidIdentifier(label.rpartition("/")[2])
    path, count = f"{root}/{name}", 1
    while stage.GetPrimAtPath(path):
        count += 1
        path = f"{root}/{name}_{count}"
    return path


class _ShapeWriter:
    """The shapes of a model on a stage; meshes that several shapes share are written once."""

    def __init__(self, model: newton.Model, stage: Any, worlds: np.ndarray) -> None:
        self._stage = stage
        self._shapes: dict[tuple[int, int], list[RenderShape]] = {}
        for shape in render_shapes(model, worlds):
            self._shapes.setdefault((shape.world, shape.body), []).append(shape)
        self._meshes: dict[int, str] = {}
        #: Facts that a reader of the file should know.
        self.notes: list[str] = []

    def add(self, root: str, world: int, body: int, offset: np.ndarray) -> None:
        """Add the shapes of a body, or of a world without a body, below a prim."""
        for shape in self._shapes.get((world, body), ()):
            self._add_shape(root, shape, offset)

    def _add_shape(self, root: str, shape: RenderShape, offset: np.ndarray) -> None:
        if shape.mesh is None and shape.kind not in _WRITERS:
            self.notes.append(f"the shape '{shape.label}' is left out: it is of a kind that USD does not have")
            return
        path, (x, y, z, *turn) = _free_path(self._stage, root, shape.label), shape.pose.tolist()
        if shape.mesh is None:
            shaped: Any = _WRITERS[shape.kind](self._stage, path, shape.sizes)
        else:
            shaped = self._shared_mesh(path, shape.mesh)
        shaped.AddTranslateOp().Set(Gf.Vec3d(*(np.array((x, y, z)) + offset).tolist()))
        shaped.AddOrientOp().Set(Gf.Quatf(turn[3], *turn[:3]))
        if shape.kind in _SCALED:
            shaped.AddScaleOp().Set(Gf.Vec3f(*shape.sizes))
        _set_color(shaped, shape.color)

    def _shared_mesh(self, path: str, source: newton.Mesh) -> Any:
        key = id(source)
        if key not in self._meshes:
            self._meshes[key] = f"/meshes/mesh_{len(self._meshes)}"
            self._stage.CreateClassPrim("/meshes")
            _mesh(self._stage, self._meshes[key], source)
        prim = self._stage.DefinePrim(path, "Mesh")
        prim.GetReferences().AddInternalReference(self._meshes[key])
        return UsdGeom.Mesh(prim)


def _solid(name: str, attributes: Callable[[Sizes], Mapping[str, Any]]) -> Callable[[Any, str, Sizes], Any]:
    """Return the writer of a solid of USD with some attributes, which depend on the size of the shape."""

    def write(stage: Any, path: str, size: Sizes) -> Any:
        prim: Any = stage.DefinePrim(path, name)
        for attribute, value in attributes(size).items():
            prim.GetAttribute(attribute).Set(value)
        return UsdGeom.Gprim(prim)

    return write


def _round(size: Sizes) -> dict[str, Any]:
    """Return the attributes of a solid of revolution about z."""
    return {"radius": size[0], "height": 2.0 * size[1], "axis": "Z"}


def _plane(stage: Any, path: str, size: Sizes) -> Any:
    x, y = (side / 2.0 if side > 0.0 else _HALF_GROUND for side in size[:2])
    plane: Any = UsdGeom.Mesh.Define(stage, path)
    corners = ((-x, -y), (x, -y), (x, y), (-x, y))
    plane.CreatePointsAttr([Gf.Vec3f(*corner, 0.0) for corner in corners])
    plane.CreateFaceVertexCountsAttr([4])
    plane.CreateFaceVertexIndicesAttr([0, 1, 2, 3])
    return plane


def _mesh(stage: Any, path: str, source: Any) -> Any:
    mesh: Any = UsdGeom.Mesh.Define(stage, path)
    indices = np.asarray(source.indices, dtype=np.int32).ravel()
    points = np.ascontiguousarray(np.asarray(source.vertices, dtype=np.float32).reshape(-1, 3))
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(indices) // 3, 3, dtype=np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(indices))
    mesh.CreateSubdivisionSchemeAttr("none")
    return mesh


_WRITERS: Mapping[str, Callable[..., Any]] = {
    "sphere": _solid("Sphere", lambda size: {"radius": size[0]}),
    "ellipsoid": _solid("Sphere", lambda size: {"radius": 1.0}),
    "box": _solid("Cube", lambda size: {"size": 2.0}),
    "capsule": _solid("Capsule", _round),
    "cylinder": _solid("Cylinder", _round),
    "cone": _solid("Cone", _round),
    "plane": _plane,
}
"""Writers of the kinds without a mesh."""

_SCALED = ("ellipsoid", "box", "mesh")
"""Kinds of shapes whose size is a scale."""
