"""Completion of an imported MJCF: what Newton's importer does not read, or adds, and dimensions of contacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import newton
import numpy as np
import warp as wp
from pippin.assets.actuators.asset_actuators import keep_delays
from pippin.assets.fidelity.pairs import colliding, shape_pairs
from pippin.sensing.sites import declare_cameras, mark_camera
from pippin.solving.conversion import mark_sliders

from .normal_form import NormalMJCF

_FIXED = int(mujoco.mjtCamLight.mjCAMLIGHT_FIXED)
_SLIDER = 2
"""MuJoCo's mark of a body on the world that only slides, along the axes of its inertia."""
_HIDDEN_GROUP = 3
"""First group of geoms that MuJoCo's viewer leaves out."""
_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


def complete(builder: newton.ModelBuilder, normal: NormalMJCF, *, is_as_written: bool) -> None:
    """Set what free and ball joints have in a file, let the same shapes collide as in MuJoCo, and add cameras."""
    model: Any = normal.model
    for index in range(model.njnt):
        joint = model.joint(index)
        if int(joint.type[0]) in (_FREE, _BALL):
            _complete_joint(builder, joint)
    keep_delays(builder, {model.actuator(i).name: float(model.actuator_delay[i]) for i in range(model.nu)})
    _match_pairs(builder, model, is_as_written=is_as_written)
    _show_bare_links(builder, model)
    if is_as_written:
        names = {model.body(index).name.replace("-", "_") for index in np.flatnonzero(model.body_simple == _SLIDER)}
        if bodies := [body for body, label in enumerate(builder.body_label) if label.rpartition("/")[2] in names]:
            mark_sliders(builder, bodies)
    _add_cameras(builder, normal)


def _complete_joint(builder: newton.ModelBuilder, joint: Any) -> None:
    end = "/" + joint.name.replace("-", "_")  # the importer replaces hyphens
    found = next((index for index, label in enumerate(builder.joint_label) if label.endswith(end)), None)
    if found is None:  # the configuration fixes the root
        return
    dof, count = builder.joint_qd_start[found], len(joint.damping)
    values = {"damping": joint.damping, "armature": joint.armature, "friction": joint.frictionloss}
    values["stiffness"] = list(joint.stiffness) * count
    for name, value in values.items():
        getattr(builder, f"joint_{name}")[dof : dof + count] = map(float, value)
    if int(joint.type[0]) == _BALL and joint.limited[0]:
        builder.joint_limit_lower[dof : dof + count] = [0.0] * count
        builder.joint_limit_upper[dof : dof + count] = [float(joint.range[1])] * count


def _add_cameras(builder: newton.ModelBuilder, normal: NormalMJCF) -> None:
    """Add the cameras that are fixed to a body. Others, which follow a body without turning, have no fixed pose."""
    declare_cameras(builder)
    bodies = {label.rpartition("/")[2]: body for body, label in enumerate(builder.body_label)}
    for index in range(normal.model.ncam):
        camera: Any = normal.model.cam(index)
        body = bodies.get(normal.model.body(int(camera.bodyid[0])).name.replace("-", "_"))
        if camera.name and body is not None and int(camera.mode[0]) == _FIXED:
            frame = wp.transform(camera.pos, np.roll(camera.quat, -1))
            site = builder.add_site(body, xform=frame, label=f"{builder.body_label[body]}/{camera.name}")
            mark_camera(builder, site, float(np.deg2rad(camera.fovy[0])))


def _match_pairs(builder: newton.ModelBuilder, model: Any, *, is_as_written: bool) -> None:
    """Let no shapes collide that never do in MuJoCo, such as a shin and a toe that is welded to the foot below it.

    Newton's importer filters neighbours in the tree only, so solvers with Newton's contacts would push them apart.
    """
    _free_loops(builder, model)
    if not is_as_written:
        return
    geoms = _geoms(builder, model)
    pairs = shape_pairs(builder)
    pairs = pairs[(geoms[pairs] >= 0).all(axis=1)]
    can = colliding(model)[tuple(geoms[pairs].T)]
    for first, second in pairs[~can].tolist():
        builder.add_shape_collision_filter_pair(first, second)


def _show_bare_links(builder: newton.ModelBuilder, model: Any) -> None:
    """Show the geoms of links that nothing shows, and those of the world, if MuJoCo draws them.

    Newton's importer hides all geoms that collide as soon as one of the file does not, even on links that have no
    other; MuJoCo draws the groups 0 to 2.
    """
    flags, visible = builder.shape_flags, int(newton.ShapeFlags.VISIBLE)
    shown = {body for body, flag in zip(builder.shape_body, flags, strict=True) if flag & visible} - {-1}
    for shape, geom in enumerate(_geoms(builder, model).tolist()):
        is_drawn = geom >= 0 and model.geom_group[geom] < _HIDDEN_GROUP and model.geom_rgba[geom, 3] > 0.0
        if is_drawn and builder.shape_body[shape] not in shown:
            flags[shape] |= visible


def _geoms(builder: newton.ModelBuilder, model: Any) -> np.ndarray:
    names = {model.geom(index).name.replace("-", "_"): index for index in range(model.ngeom)}
    return np.array([_geom(label.replace("-", "_"), names) for label in builder.shape_label], dtype=int)


def _geom(label: str, names: Mapping[str, int]) -> int:
    parts = label.split("/")
    return next((names[name] for i in range(len(parts)) if (name := "/".join(parts[i:])) in names), -1)


def _free_loops(builder: newton.ModelBuilder, model: Any) -> None:
    """Drop the collision filters of loop joints: Newton adds one to each connection or weld, and MuJoCo adds none."""
    in_tree = {child for child, of in zip(builder.joint_child, builder.joint_articulation, strict=True) if of >= 0}
    names = {model.body(index).name.replace("-", "_"): index for index in range(1, model.nbody)}
    theirs = {body: names.get(label.rpartition("/")[2]) for body, label in enumerate(builder.body_label)} | {-1: 0}
    freed = set()
    for parent, child, of in zip(builder.joint_parent, builder.joint_child, builder.joint_articulation, strict=True):
        if of >= 0 or child not in in_tree:
            continue
        first, second = theirs[parent], theirs[child]
        # A body that stands for a joint alone is not in the file; it has no shapes.
        if first is not None and second is not None and not _is_filtered(model, first, second):
            freed.add(frozenset((parent, child)))
    bodies = builder.shape_body
    builder.shape_collision_filter_pairs[:] = [
        pair for pair in builder.shape_collision_filter_pairs if frozenset(bodies[shape] for shape in pair) not in freed
    ]


def _is_filtered(model: Any, first: int, second: int) -> bool:
    """Tell whether MuJoCo itself lets two bodies never collide: parent and child, welded, or excluded."""
    own = [int(model.body_weldid[each]) for each in (first, second)]
    above = [int(model.body_weldid[model.body_parentid[each]]) for each in own]
    is_parent = all(own) and (own[0] == above[1] or own[1] == above[0])
    is_parent &= not model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    signatures = {(first << 16) + second, (second << 16) + first}
    return own[0] == own[1] or is_parent or not signatures.isdisjoint(model.exclude_signature.tolist())


_KEY = "mujoco:condim"
"""Attribute of the dimensions of contacts: 3 for sliding friction alone, 4 with torsional, 6 with rolling friction.

MJCF states them for each geom. MuJoCo ignores the coefficients that the dimension leaves out. A solver that reads
coefficients alone gets zeros for these.
"""

DIMENSIONS = {"mu_torsional": 4, "mu_rolling": 6}
"""The smallest dimension with a friction, by the name of its coefficient."""


def has_dimensions(builder: newton.ModelBuilder) -> bool:
    """Tell whether a builder has the attribute of dimensions: the importer or the solver has registered it."""
    return _KEY in builder.custom_attributes


def drop_frictions(builder: newton.ModelBuilder) -> None:
    """Set the coefficients to zero that the dimensions of their shapes leave out; shapes without one keep theirs."""
    attribute: Any = builder.custom_attributes.get(_KEY)
    for index, stated in ((attribute and attribute.values) or {}).items():
        for name, dimension in DIMENSIONS.items():
            if stated < dimension:
                getattr(builder, f"shape_material_{name}")[index] = 0.0


def keep_dimensions(builder: newton.ModelBuilder) -> None:
    """Keep the dimension 3 of the shapes of an MJCF file that state no other one, since MuJoCo reads the file so.

    A shape that got a coefficient from `[scene.shapes]` is left open.
    """
    attribute: Any = builder.custom_attributes[_KEY]
    opened = _indices(builder, vars(builder.default_shape_cfg))
    kept = {index: 3 for index in range(builder.shape_count) if index not in opened}
    attribute.values = {**kept, **(attribute.values or {})}


def raise_dimensions(builder: newton.ModelBuilder) -> None:
    """Give shapes with torsional or rolling friction, and without a dimension of their own, one that has the friction.

    Does nothing if the builder does not have MuJoCo's attributes.
    """
    attribute: Any = builder.custom_attributes.get(_KEY)
    if attribute is not None:
        attribute.values = {**_indices(builder), **(attribute.values or {})}


def _indices(builder: newton.ModelBuilder, equal_to: dict[str, float] | None = None) -> dict[int, int]:
    """Return the dimension of each shape with a positive coefficient that is not Newton's, but that of `equal_to`."""
    found = {}
    for name, dimension in DIMENSIONS.items():
        values = np.array(getattr(builder, f"shape_material_{name}"))
        chosen = (values > 0.0) & (values != getattr(newton.ModelBuilder.ShapeConfig(), name))
        if equal_to is not None:
            chosen &= values == equal_to[name]
        found |= dict.fromkeys(np.flatnonzero(chosen).tolist(), dimension)
    return found
