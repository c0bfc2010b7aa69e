"""Addition of a URDF to a builder, without visual meshes and contacts that stop the importer or the robot."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import mujoco
import newton
import numpy as np
import warp as wp
from newton import GeoType, JointType
from pippin.assets.fidelity.pairs import shape_pairs, solid_shapes
from pippin.assets.start_poses import parent_frame, start_poses

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
    joints = zip(builder.joint_type, builder.joint_parent, builder.joint_child, strict=True)
    tied = [ends for kind, *ends in joints if kind != JointType.FREE]
    for parent, child in {tuple(sorted(_carrier(carriers, body) for body in ends)) for ends in tied}:
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


TOUCH = 1e-3
"""Overlap of links that only touch each other [m]: too small to push them apart."""

_KINDS = {
    GeoType[each]: getattr(mujoco.mjtGeom, f"mjGEOM_{each}")
    for each in ("SPHERE", "CAPSULE", "CYLINDER", "BOX", "MESH")
}


def part_overlapping(builder: newton.ModelBuilder) -> dict[tuple[int, int], float]:
    """Let no links collide that overlap in the start pose, and return them with the depths [m], the deepest first.

    Such links are meant to, as a hip in its trunk: their shapes are coarse. A contact between them can be at no rest.
    MuJoCo's collision of their convex hulls tells the depth.
    """
    found: dict[tuple[int, int], float] = {}
    for pair, depth in _depths(builder).items():
        first, second = sorted(builder.shape_body[shape] for shape in pair)
        if depth > TOUCH and 0 <= first < second:
            found[first, second] = max(depth, found.get((first, second), 0.0))
    for first, second in found:
        for pair in itertools.product(builder.body_shapes[first], builder.body_shapes[second]):
            builder.add_shape_collision_filter_pair(*pair)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _depths(builder: newton.ModelBuilder) -> dict[tuple[int, int], float]:
    """Return the depths of the pairs of shapes that overlap, of those that may collide [m]."""
    pairs = shape_pairs(builder).tolist()
    geoms = sorted({*itertools.chain(*pairs)})
    if not geoms:
        return {}
    model = _model(builder, geoms)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    place, reach = data.geom_xpos, model.geom_rbound
    number = {int(model.geom(geom).name): geom for geom in range(model.ngeom)}
    found = {}
    for pair in pairs:
        if not number.keys() >= {*pair}:
            continue
        first, second = (number[shape] for shape in pair)
        if np.linalg.norm(place[first] - place[second]) < reach[first] + reach[second]:
            found[tuple(pair)] = -mujoco.mj_geomDistance(model, data, first, second, 0.0, np.zeros(6))
    return found


def _model(builder: newton.ModelBuilder, shapes: Sequence[int]) -> Any:
    """Return a model of MuJoCo in which shapes stand still where a builder starts them, each called by its index."""
    spec = mujoco.MjSpec()
    meshes: dict[tuple[int, tuple[float, ...]], str] = {}
    for shape in shapes:
        source: Any = builder.shape_source[shape]
        scale = tuple(map(float, builder.shape_scale[shape]))
        is_mesh = builder.shape_type[shape] == GeoType.MESH
        points = np.asarray(source.vertices, float) * scale if is_mesh else np.zeros((1, 3))
        if is_mesh and np.linalg.matrix_rank(points - points[0]) < 3:
            continue  # a plate without a thickness has no hull
        body = builder.shape_body[shape]
        pose: Any = builder.body_q[body] if body >= 0 else wp.transform()
        pose = pose * wp.transform(builder.shape_transform[shape])
        geom = spec.worldbody.add_geom(name=str(shape), pos=np.array(pose.p), quat=np.roll(np.array(pose.q), 1))
        geom.type = _KINDS[GeoType(builder.shape_type[shape])]
        if not is_mesh:
            geom.size = scale
            continue
        key = (id(source), scale)
        if key not in meshes:
            meshes[key] = f"mesh{len(meshes)}"
            faces = np.asarray(source.indices, np.int32)
            mesh = spec.add_mesh(name=meshes[key], uservert=points.ravel(), userface=faces.ravel())
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        geom.meshname = meshes[key]
    return spec.compile()


def release_links(builder: newton.ModelBuilder, *, collides: bool) -> None:
    """Let links on floating joints hang on the world, where they start: the joint holds nothing, and no solver has one
    between two bodies. Newton's importer starts them at the root, and MuJoCo takes free joints at the top level alone.
    They collide with what is static and, if wanted, with the links that carried them.
    """
    for joint, kind in enumerate(builder.joint_type):
        if kind == JointType.FREE and (builder.joint_parent[joint] >= 0 or builder.joint_X_p[joint] != wp.transform()):
            at, start = builder.joint_q_start[joint], parent_frame(builder, joint, start_poses(builder))
            builder.joint_q[at : at + 7] = list(map(float, start))
            parent, child = builder.joint_parent[joint], builder.joint_child[joint]
            builder.joint_parent[joint], builder.joint_X_p[joint] = -1, wp.transform()
            builder.joint_collision_filter_parent[joint] = False
            pairs, ends = builder.shape_collision_filter_pairs, {parent, child} if collides else set()
            pairs[:] = [pair for pair in pairs if {builder.shape_body[shape] for shape in pair} != ends]
