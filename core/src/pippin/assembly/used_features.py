"""Features used by a scene, found in its finalized model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import newton
import numpy as np
from pippin.actuation.asset_actuators import CONTROLLED, FREE, AssetActuators
from pippin.actuation.attribute_rows import numbers, texts
from pippin.features import NO_LIMIT

__all__ = ["USERS", "used_features"]


_JOINT_TARGET = 1
"""Newton's mark of an equality constraint that became a joint."""

_LIGHT = 1e-8
"""Mass below which a link is there for its joint alone [kg]."""


def used_features(model: newton.Model) -> dict[str, Sequence[str]]:
    """Return the users of each feature; features without users are left out.

    Args:
        model: Any finalized model; its arrays are read on the host.
    """
    found = {name: users(model) for name, users in USERS.items()}
    return {name: users for name, users in found.items() if users}


def _host(array: Any) -> np.ndarray:
    """Return the contents of an array; empty if the model does not have the array."""
    return np.zeros(0, dtype=int) if array is None else array.numpy()


def _joints(model: newton.Model, kind: str) -> Sequence[str]:
    return _joints_where(model, _types(model) == int(newton.JointType[kind]))


def _joints_where(model: newton.Model, chosen: Any) -> Sequence[str]:
    return [model.joint_label[index] for index in np.flatnonzero(chosen & _is_moved(model)[_host(model.joint_child)])]


def _is_moved(model: newton.Model) -> np.ndarray:
    """Tell for each body whether forces move it. Users move kinematic bodies, which need no support by a solver."""
    return (_host(model.body_flags) & int(newton.BodyFlags.KINEMATIC)) == 0


def _types(model: newton.Model) -> np.ndarray:
    return _host(model.joint_type)


def _joints_of_dofs(model: newton.Model, chosen: np.ndarray) -> Sequence[str]:
    """Return the joints of chosen DOFs. Free joints are left out: their six DOFs are not joint axes."""
    if not len(chosen):
        return ()
    starts = _host(model.joint_qd_start)
    joints = np.searchsorted(starts, np.flatnonzero(chosen), side="right") - 1
    owners = [joint for joint in np.unique(joints) if _types(model)[joint] != int(newton.JointType.FREE)]
    return [model.joint_label[joint] for joint in owners]


def _loops(model: newton.Model) -> Sequence[str]:
    """Return the joints outside every articulation whose child is in a tree by another joint."""
    children, articulations = _host(model.joint_child), _host(model.joint_articulation)
    in_tree = np.isin(children, children[articulations >= 0])
    return _joints_where(model, (articulations < 0) & in_tree)


def _drives(model: newton.Model) -> np.ndarray:
    return (_host(model.joint_target_ke) != 0.0) | (_host(model.joint_target_kd) != 0.0)


def _limits(model: newton.Model) -> np.ndarray:
    return (_host(model.joint_limit_lower) > -NO_LIMIT) | (_host(model.joint_limit_upper) < NO_LIMIT)


def _of_balls(model: newton.Model) -> np.ndarray:
    """Tell for each DOF whether it is one of a ball joint."""
    return np.repeat(_types(model) == int(newton.JointType.BALL), np.diff(_host(model.joint_qd_start)))


def _mimics(model: newton.Model) -> Sequence[str]:
    return _joints_where(model, _host(model.joint_mimic_joint) >= 0)


def _mimic_constraints(model: newton.Model) -> Sequence[str]:
    return [label or f"mimic constraint {index}" for index, label in enumerate(model.constraint_mimic_label)]


def _triangles(model: newton.Model) -> Sequence[str]:
    """Return the triangles that resist stretching. Triangles that only collide need no support by a solver."""
    count = int(np.any(_host(model.tri_materials)[:, :2] != 0.0, axis=1).sum()) if model.tri_count else 0
    return [f"{count} triangles"] if count else ()


def _bending(model: newton.Model) -> Sequence[str]:
    count = int((_host(model.edge_bending_properties)[:, 0] != 0.0).sum()) if model.edge_count else 0
    return [f"{count} edges"] if count else ()


def _equalities(model: newton.Model) -> Sequence[str]:
    """Return MuJoCo's equality constraints that the importer did not turn into a joint or a mimic constraint."""
    rows: Any = getattr(model, "mujoco")  # noqa: B009  a namespace of custom attributes
    if not rows.equality_constraint_count:
        return ()
    is_left = _host(rows.equality_constraint_enabled).astype(bool) & (_host(rows.equality_constraint_target) < 0)
    labels = rows.equality_constraint_label
    return [labels[index] or f"equality constraint {index}" for index in np.flatnonzero(is_left)]


def _disabled(model: newton.Model) -> np.ndarray:
    return ~_host(model.joint_enabled).astype(bool)


def _of_equalities(model: newton.Model) -> np.ndarray:
    """Tell for each joint whether an importer made it of one of MuJoCo's equality constraints."""
    rows: Any = getattr(model, "mujoco", None)
    chosen = np.zeros(model.joint_count, dtype=bool)
    if getattr(rows, "equality_constraint_count", 0):
        is_joint = _host(rows.equality_constraint_target_kind) == _JOINT_TARGET
        chosen[_host(rows.equality_constraint_target)[is_joint]] = True
    return chosen


def _counted(*attributes: str) -> Callable[[newton.Model], Sequence[str]]:
    """Return a function that lists the counts of elements without labels, such as particles."""

    def users(model: newton.Model) -> Sequence[str]:
        counts = {name: getattr(model, name) for name in attributes}
        return [f"{count} {name.removesuffix('_count')}" for name, count in counts.items() if count]

    return users


def _mujoco_tendons(model: newton.Model) -> Sequence[str]:
    """Return the tendons that exert something by themselves; others only transmit what an actuator exerts."""
    labels = texts(model, "mujoco:tendon_label")
    if not labels:
        return ()
    laws = ("stiffness", "damping", "frictionloss", "armature")
    has_law = np.any([numbers(model, f"mujoco:tendon_{name}") != 0.0 for name in laws], axis=0)
    limited, ranges = (numbers(model, f"mujoco:tendon_{name}") for name in ("limited", "range"))
    is_limited = (limited == 1) | ((limited == 2) & np.any(ranges != 0.0, axis=1))
    return [labels[index] or f"tendon {index}" for index in np.flatnonzero(has_law | is_limited)]


def _direct_actuators(model: newton.Model) -> Sequence[str]:
    """Return the asset's own actuators that have an effect only if the solver applies `control.mujoco.ctrl`."""
    own = AssetActuators(model)
    if not len(own):
        return ()
    acts = own.acts_at_zero | (numbers(model, "mujoco:ctrl") != 0.0)
    is_used = (own.owners == CONTROLLED) | ((own.owners == FREE) & acts) | own.has_rotor
    return [own.labels[index] for index in np.flatnonzero(~own.is_servo & is_used)]


def _bodies(model: newton.Model) -> Sequence[str]:
    return [model.body_label[index] for index in np.flatnonzero(_is_moved(model))]


def _massless(model: newton.Model) -> Sequence[str]:
    """Return the bodies without a mass that fixed joints join to a moving body.

    Those joined to the world need no mass, and a body that no fixed joint holds is static without one.
    """
    chosen = (_host(model.body_mass) == 0.0) & _is_moved(model)
    if not chosen.any():
        return ()
    heads = np.arange(-1, model.body_count)  # of the body before in the array; entry 0 stands for the world
    is_fixed = _types(model) == int(newton.JointType.FIXED)
    heads[_host(model.joint_child)[is_fixed] + 1] = _host(model.joint_parent)[is_fixed]
    for _ in range(model.body_count.bit_length()):  # each pass doubles the way that is gone
        heads = heads[heads + 1]
    moves_with = (heads[1:] >= 0) & (heads[1:] != np.arange(model.body_count))
    return [model.body_label[index] for index in np.flatnonzero(chosen & moves_with)]


def _compensated(model: newton.Model) -> Sequence[str]:
    """Return the bodies on which a part of gravity does not act, as MJCF's `gravcomp` and the views say it."""
    factors = _host(getattr(getattr(model, "mujoco", None), "gravcomp", None))
    return [model.body_label[index] for index in np.flatnonzero(factors != 0.0)]


def _light_links(model: newton.Model) -> Sequence[str]:
    mass = _host(model.body_mass)
    return [model.body_label[index] for index in np.flatnonzero(_is_moved(model) & (mass > 0.0) & (mass < _LIGHT))]


def _colliders(model: newton.Model) -> Sequence[str]:
    """Return the shapes on moving bodies that collide with shapes."""
    bodies = _host(model.shape_body)
    is_on_moved = (bodies >= 0) & np.append(_is_moved(model), False)[bodies]
    return [model.shape_label[index] for index in np.flatnonzero(_can_collide(model) & is_on_moved)]


def _can_collide(model: newton.Model) -> np.ndarray:
    return (_host(model.shape_flags) & int(newton.ShapeFlags.COLLIDE_SHAPES)) != 0


def _unequal_worlds(model: newton.Model) -> Sequence[str]:
    """Return the worlds whose content differs from the first world."""
    layouts = list(_layouts(model))
    return [f"world {index}" for index, layout in enumerate(layouts) if layout != layouts[0]]


def _layouts(model: newton.Model) -> Iterator[tuple[Any, ...]]:
    """Yield for each world its counts, and the trees, types and meshes of its joints and shapes."""
    starts = {what: _host(getattr(model, f"{what}_world_start")) for what in ("body", "joint", "shape", "particle")}
    kinds = [(_types(model), "joint"), (_host(model.joint_dof_dim), "joint"), (_host(model.shape_type), "shape")]
    bodies = [(_host(model.joint_parent), "joint"), (_host(model.joint_child), "joint")]
    bodies.append((_host(model.shape_body), "shape"))
    for world in range(model.world_count):
        first, end = starts["body"][world : world + 2]
        part = {what: slice(*starts[what][world : world + 2]) for what in ("joint", "shape")}
        trees = [np.maximum(array[part[what]] - first, -1).tobytes() for array, what in bodies]
        meshes = [hash(source) for source in model.shape_source[part["shape"]]]
        particle_count = np.diff(starts["particle"][world : world + 2])[0]
        yield end - first, particle_count, trees, [array[part[what]].tobytes() for array, what in kinds], meshes


def _particle_worlds(model: newton.Model) -> Sequence[str]:
    """Return the worlds with particles that can touch something, if there are several."""
    if model.particle_max_radius <= 0.0 and not model.tri_count:
        return ()
    held = (
        np.flatnonzero(np.diff(_host(model.particle_world_start)[: model.world_count + 1]))
        if model.particle_count
        else ()
    )
    return [f"world {index}" for index in held] if len(held) > 1 else ()


def _differs(model: newton.Model, prefix: str, own: Any, names: Sequence[str]) -> np.ndarray:
    """Tell for each element of arrays whether a value is not the one that Newton gives by default."""
    return np.any([_host(getattr(model, prefix + name)) != np.float32(getattr(own, name)) for name in names], axis=0)


def _soft_limits(model: newton.Model) -> np.ndarray:
    """Tell for each DOF whether it has limits of another stiffness or damping than Newton's own."""
    own = newton.ModelBuilder.JointDofConfig()
    return _limits(model) & ~_of_balls(model) & _differs(model, "joint_", own, ("limit_ke", "limit_kd"))


def _surfaces(*names: str) -> Callable[[newton.Model], Sequence[str]]:
    """Return a function that lists the colliding shapes with another property than Newton's own, if bodies collide."""

    def users(model: newton.Model) -> Sequence[str]:
        if not _colliders(model):
            return ()
        is_other = _differs(model, "shape_material_", newton.ModelBuilder.ShapeConfig(), names)
        return [model.shape_label[index] for index in np.flatnonzero(_can_collide(model) & is_other)]

    return users


def _by_type(kind: str) -> Callable[[newton.Model], Sequence[str]]:
    return lambda model: _joints(model, kind)


def _by_dof(choose: Callable[[newton.Model], np.ndarray]) -> Callable[[newton.Model], Sequence[str]]:
    return lambda model: _joints_of_dofs(model, choose(model)) if model.joint_dof_count else ()


def _nonzero(attribute: str) -> Callable[[newton.Model], Sequence[str]]:
    return _by_dof(lambda model: _host(getattr(model, attribute)) != 0.0)


USERS: Mapping[str, Callable[[newton.Model], Sequence[str]]] = {
    "rigid_bodies": _bodies,
    "rigid_contacts": _colliders,
    "fixed_joints": _by_type("FIXED"),
    "free_joints": _by_type("FREE"),
    "revolute_joints": _by_type("REVOLUTE"),
    "prismatic_joints": _by_type("PRISMATIC"),
    "ball_joints": _by_type("BALL"),
    "d6_joints": _by_type("D6"),
    "distance_joints": _by_type("DISTANCE"),
    "rod_joints": _by_type("ROD"),
    "loop_joints": _loops,
    "light_links": _light_links,
    "joint_limits": _by_dof(lambda model: _limits(model) & ~_of_balls(model)),
    "ball_limits": _by_dof(lambda model: _limits(model) & _of_balls(model)),
    "joint_drives": _by_dof(_drives),
    "disabled_joints": lambda model: _joints_where(model, _disabled(model) & ~_of_equalities(model)),
    "inactive_equalities": lambda model: _joints_where(model, _disabled(model) & _of_equalities(model)),
    "massless_bodies": _massless,
    "mimic_joints": _mimics,
    "mimic_constraints": _mimic_constraints,
    "equality_constraints": _equalities,
    "tendons": _counted("tendon_count"),
    "mujoco_tendons": _mujoco_tendons,
    "asset_actuators": _direct_actuators,
    "muscles": _counted("muscle_count"),
    "particles": _counted("particle_count"),
    "springs": _counted("spring_count"),
    "triangles": _triangles,
    "bending": _bending,
    "tetrahedra": _counted("tet_count"),
    "gradients": lambda model: ["simulation.requires_grad"] if model.requires_grad else (),
    "heterogeneous_worlds": _unequal_worlds,
    "particle_worlds": _particle_worlds,
    "armature": _nonzero("joint_armature"),
    "joint_friction": _nonzero("joint_friction"),
    "joint_damping": _nonzero("joint_damping"),
    "joint_stiffness": _nonzero("joint_stiffness"),
    "effort_limits": _by_dof(lambda model: _drives(model) & (_host(model.joint_effort_limit) < NO_LIMIT)),
    "velocity_limits": _by_dof(lambda model: _host(model.joint_velocity_limit) < NO_LIMIT),
    "gravity_compensation": _compensated,
    "restitution": _surfaces("restitution"),
    "contact_stiffness": _surfaces("ke", "kd"),
    "friction_damping": _surfaces("kf"),
    "adhesion": _surfaces("ka"),
    "limit_stiffness": _by_dof(_soft_limits),
}
"""For each of `pippin.solving.FEATURES`, a function that lists its users in a model: labels or counts."""
