"""Sketch of a builder: its bodies, joints and shapes as MuJoCo's model, made without a kernel and for every solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import mujoco
import newton
import numpy as np
import warp as wp
from pippin.attribute_rows import dof_numbers

from .pairs import shape_pairs, solid_shapes

_FREE, _BALL, _SLIDE, _HINGE = (
    getattr(mujoco.mjtJoint, f"mjJNT_{kind}") for kind in ("FREE", "BALL", "SLIDE", "HINGE")
)

_TYPES = {
    newton.GeoType[kind]: getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
    for kind in ("PLANE", "HFIELD", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX")
}
"""Types of geoms; every other shape is a mesh."""

_MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
_ASSETS = (int(mujoco.mjtGeom.mjGEOM_HFIELD), _MESH)
"""Types whose form is an asset. A sketch has a sphere in their place, and then their type: it leaves out the form."""

_UNLIMITED = 1e10
"""Limit of a joint from which on it has none [m or rad]."""


def sketch(part: newton.ModelBuilder) -> Any:
    """Return a `mujoco.MjModel` with the tree, inertias, joints, shapes and sites of a builder.

    It has nothing that Newton keeps for MuJoCo alone: no actuators, tendons and equalities, no compensation of gravity,
    no medium, no options and no parameters of contacts.
    """
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    labels = {"body": _unique(part.body_label), "joint": _unique(part.joint_label)}
    bodies, types = {-1: spec.worldbody}, dict[str, int]()
    for joint in _tree(part):
        child = part.joint_child[joint]
        bodies[child] = _add_body(bodies[part.joint_parent[joint]], part, joint, labels)
    solids = frozenset(solid_shapes(part))
    for shape, body in enumerate(part.shape_body):
        if part.shape_flags[shape] & newton.ShapeFlags.SITE:
            bodies[body].add_site(name=_name(part, shape), **_pose(wp.transform(*part.shape_transform[shape])))
        elif shape in solids:
            _add_geom(bodies[body], part, shape, types)
    names = {body: held.name for body, held in bodies.items() if body >= 0}
    model = spec.compile()
    for body, name in names.items():
        _set_inertia(model, model.body(name).id, part, body)
    for name, kind in types.items():
        model.geom_type[model.geom(name).id] = kind
    return model


def sketched_pairs(part: newton.ModelBuilder, model: Any) -> set[tuple[int, int]]:
    """Return the pairs of geoms of a sketch that can collide, each with the smaller index first.

    Bodies that are welded to each other never collide there.
    """
    geoms = np.zeros(part.shape_count, dtype=int)
    for shape in solid_shapes(part):
        geoms[shape] = model.geom(_name(part, shape)).id
    pairs = np.sort(geoms[shape_pairs(part)], axis=1)
    welds = model.body_weldid[model.geom_bodyid]
    return set(map(tuple, pairs[welds[pairs[:, 0]] != welds[pairs[:, 1]]].tolist()))


def _tree(part: newton.ModelBuilder) -> Iterator[int]:
    """Yield the joints that hold a body in the tree, a parent before its children; loops are closed by others."""
    held, left = {-1}, {child: index for index, child in reversed(list(enumerate(part.joint_child)))}
    left |= {part.joint_child[i]: i for i, of in reversed(list(enumerate(part.joint_articulation))) if of >= 0}
    while ready := [index for index in left.values() if part.joint_parent[index] in held]:
        for index in sorted(ready):
            held.add(part.joint_child[index])
            del left[part.joint_child[index]]
            yield index


def _add_body(parent: Any, part: newton.ModelBuilder, joint: int, labels: Mapping[str, Sequence[str]]) -> Any:
    child = part.joint_child[joint]
    frame: Any = wp.transform(*part.joint_X_c[joint])
    kind, counts = part.joint_type[joint], part.joint_dof_dim[joint]
    place = wp.transform(*part.joint_X_p[joint]) * wp.transform_inverse(frame)
    if kind == newton.JointType.FREE:
        place = wp.transform(*part.body_q[child])
    is_fixed_root = part.joint_parent[joint] < 0 and not sum(counts) and kind != newton.JointType.FREE
    body = parent.add_body(name=labels["body"][child], mocap=is_fixed_root, **_pose(place))
    body.mass, body.inertia, body.explicitinertial = 1.0, [1.0] * 3, True
    dof, name = part.joint_qd_start[joint], labels["joint"][joint]
    if kind in (newton.JointType.FREE, newton.JointType.BALL):
        is_ball = kind == newton.JointType.BALL
        added = body.add_joint(name=name, type=_BALL if is_ball else _FREE, **_passive(part, dof))
        if is_ball:
            added.pos = frame.p
            upper = part.joint_limit_upper[dof]
            _limit(added, 0.0 if upper < _UNLIMITED else -_UNLIMITED, upper)
        return body
    for number in range(sum(counts)):
        axis = dof + number
        ref = float(dof_numbers(part, "mujoco:dof_ref")[axis])
        direction: Any = wp.vec3(*part.joint_axis[axis])
        added = body.add_joint(
            name=name if sum(counts) == 1 else f"{name}_{number}",
            type=_SLIDE if number < counts[0] else _HINGE,
            pos=frame.p,
            axis=wp.transform_vector(frame, direction),
            ref=ref,
            springref=part.joint_rest_q[part.joint_q_start[joint] + number] + ref,
            actfrclimited=True,
            actfrcrange=[-part.joint_effort_limit[axis], part.joint_effort_limit[axis]],
            **_passive(part, axis),
        )
        _limit(added, part.joint_limit_lower[axis], part.joint_limit_upper[axis], ref)
    return body


def _limit(joint: Any, lower: float, upper: float, ref: float = 0.0) -> None:
    joint.limited = lower > -_UNLIMITED or upper < _UNLIMITED
    if joint.limited:
        joint.range = [lower + ref, upper + ref]


def _passive(part: newton.ModelBuilder, dof: int) -> dict[str, Any]:
    given = {"damping": "damping", "stiffness": "stiffness", "armature": "armature", "frictionloss": "friction"}
    return {name: getattr(part, f"joint_{array}")[dof] for name, array in given.items()}


def _add_geom(body: Any, part: newton.ModelBuilder, shape: int, types: dict[str, int]) -> None:
    name, size = _name(part, shape), list(part.shape_scale[shape])
    kind = int(_TYPES.get(newton.GeoType(part.shape_type[shape]), _MESH))
    if kind in _ASSETS:
        types[name], kind, size = kind, int(mujoco.mjtGeom.mjGEOM_SPHERE), [1.0] * 3
    materials = (part.shape_material_mu, part.shape_material_mu_torsional, part.shape_material_mu_rolling)
    body.add_geom(
        name=name,
        type=kind,
        size=[each if each > 0.0 else 1.0 for each in size],  # a plane without end has none, which MuJoCo refuses
        friction=[values[shape] for values in materials],
        margin=part.shape_margin[shape],
        **_pose(wp.transform(*part.shape_transform[shape])),
    )


def _set_inertia(model: Any, row: int, part: newton.ModelBuilder, body: int) -> None:
    """Set mass and inertia after the compilation, which refuses some that other solvers take."""
    moments, axes = np.linalg.eigh(np.array(part.body_inertia[body], dtype=float).reshape(3, 3))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    model.body_mass[row], model.body_inertia[row] = part.body_mass[body], moments
    model.body_ipos[row] = np.array(part.body_com[body])
    mujoco.mju_mat2Quat(model.body_iquat[row], axes.ravel())


def _pose(place: Any) -> dict[str, Any]:
    turn = place.q
    return {"pos": list(place.p), "quat": [turn[3], turn[0], turn[1], turn[2]]}


def _name(part: newton.ModelBuilder, shape: int) -> str:
    return f"{part.shape_label[shape].replace('/', '_')}_{shape}"


def _unique(labels: Sequence[str]) -> list[str]:
    first = {label: index for index, label in reversed(list(enumerate(labels)))}
    return [
        (label if first[label] == index else f"{label}_{index}").replace("/", "_") for index, label in enumerate(labels)
    ]
