"""Links of a URDF that overlap in the start pose: by MuJoCo's collision of their convex hulls."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import GeoType, JointType
from pippin.assets.fidelity.pairs import shape_pairs
from pippin.assets.untyped import mujoco

TOUCH = 1e-3
"""Overlap of links that only touch each other [m]: too small to push them apart."""

_KINDS = {
    GeoType.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    GeoType.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE,
    GeoType.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
    GeoType.BOX: mujoco.mjtGeom.mjGEOM_BOX,
    GeoType.MESH: mujoco.mjtGeom.mjGEOM_MESH,
}


def part_overlapping(builder: newton.ModelBuilder) -> dict[tuple[int, int], float]:
    """Let no links collide that overlap in the start pose, and return them with the depths [m], the deepest first.

    Such links are meant to, as a hip in its trunk: their shapes are coarse. A contact between them can be at no rest.
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
    poses, spec = start_poses(builder), mujoco.MjSpec()
    meshes: dict[tuple[int, tuple[float, ...]], str] = {}
    for shape in shapes:
        source: Any = builder.shape_source[shape]
        scale = tuple(map(float, builder.shape_scale[shape]))
        is_mesh = builder.shape_type[shape] == GeoType.MESH
        points = np.asarray(source.vertices, float) * scale if is_mesh else np.zeros((1, 3))
        if is_mesh and np.linalg.matrix_rank(points - points[0]) < 3:
            continue  # a plate without a thickness has no hull
        pose = poses[builder.shape_body[shape]] * wp.transform(builder.shape_transform[shape])
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


def start_poses(builder: newton.ModelBuilder) -> Mapping[int, Any]:
    """Return the start pose of each body of a builder with the joints of a URDF, a `wp.transform`; the world is -1."""
    poses: dict[int, Any] = {-1: wp.transform()}
    for joint, kind in enumerate(builder.joint_type):
        at, dof = builder.joint_q_start[joint], builder.joint_qd_start[joint]
        moved: Any = wp.transform()
        if kind == JointType.FREE:
            moved = wp.transform(*map(float, builder.joint_q[at : at + 7]))
        elif kind in (JointType.REVOLUTE, JointType.PRISMATIC):
            axis: Any = wp.vec3(*map(float, builder.joint_axis[dof]))
            angle, way = builder.joint_q[at], 0.0
            if kind == JointType.PRISMATIC:
                angle, way = way, angle
            moved = wp.transform(axis * float(way), wp.quat_from_axis_angle(axis, float(angle)))
        behind: Any = builder.joint_X_c[joint]
        parent = poses[builder.joint_parent[joint]] * wp.transform(builder.joint_X_p[joint])
        poses[builder.joint_child[joint]] = parent * moved * wp.transform_inverse(behind)
    return poses
