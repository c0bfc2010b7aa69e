"""Joints and shapes that use a feature, found in a finalized model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import newton
import numpy as np

from .features import NO_LIMIT


def host(array: Any) -> np.ndarray:
    """Return the contents of an array; empty if the model does not have the array."""
    return np.zeros(0, dtype=int) if array is None else array.numpy()


def is_moved(model: newton.Model) -> np.ndarray:
    """Tell for each body whether forces move it. Users move kinematic bodies, which need no support by a solver."""
    return (host(model.body_flags) & int(newton.BodyFlags.KINEMATIC)) == 0


def differs(model: newton.Model, prefix: str, own: Any, names: Sequence[str]) -> np.ndarray:
    """Tell for each element of arrays whether a value is not the one that Newton gives by default."""
    return np.any([host(getattr(model, prefix + name)) != np.float32(getattr(own, name)) for name in names], axis=0)


_JOINT_TARGET = 1
"""Newton's mark of an equality constraint that became a joint."""


def _types(model: newton.Model) -> np.ndarray:
    return host(model.joint_type)


def _joints_where(model: newton.Model, chosen: Any) -> Sequence[str]:
    return [model.joint_label[index] for index in np.flatnonzero(chosen & is_moved(model)[host(model.joint_child)])]


def _joints_of_dofs(model: newton.Model, chosen: np.ndarray) -> Sequence[str]:
    """Return the joints of chosen DOFs. Free joints are left out: their six DOFs are not joint axes."""
    if not len(chosen):
        return ()
    starts = host(model.joint_qd_start)
    owners = np.unique(np.searchsorted(starts, np.flatnonzero(chosen), side="right") - 1)
    owners = owners[_types(model)[owners] != int(newton.JointType.FREE)]
    return [model.joint_label[joint] for joint in owners.tolist()]


def _by_type(kind: str) -> Callable[[newton.Model], Sequence[str]]:
    return lambda model: _joints_where(model, _types(model) == int(newton.JointType[kind]))


def _by_dof(choose: Callable[[newton.Model], np.ndarray]) -> Callable[[newton.Model], Sequence[str]]:
    return lambda model: _joints_of_dofs(model, choose(model)) if model.joint_dof_count else ()


def _nonzero(attribute: str) -> Callable[[newton.Model], Sequence[str]]:
    return _by_dof(lambda model: host(getattr(model, attribute)) != 0.0)


def _carried_sliders(model: newton.Model) -> Sequence[str]:
    slides = np.isin(_types(model), (newton.JointType.PRISMATIC, newton.JointType.D6))
    if not slides.any():
        return ()
    return _joints_where(model, slides & (host(model.joint_dof_dim)[:, 0] > 0) & (host(model.joint_parent) >= 0))


def _drives(model: newton.Model) -> np.ndarray:
    return (host(model.joint_target_ke) != 0.0) | (host(model.joint_target_kd) != 0.0)


def _limits(model: newton.Model) -> np.ndarray:
    return (host(model.joint_limit_lower) > -NO_LIMIT) | (host(model.joint_limit_upper) < NO_LIMIT)


def _velocity_limits(model: newton.Model) -> np.ndarray:
    limits = host(model.joint_velocity_limit)
    return (limits > 0.0) & (limits < NO_LIMIT)


def _of_balls(model: newton.Model) -> np.ndarray:
    return np.repeat(_types(model) == int(newton.JointType.BALL), np.diff(host(model.joint_qd_start)))


def _of_free(*names: str) -> Callable[[newton.Model], Sequence[str]]:

    def users(model: newton.Model) -> Sequence[str]:
        is_used = np.any([host(getattr(model, f"joint_{name}")) != 0.0 for name in names], axis=0)
        joints = np.repeat(np.arange(model.joint_count), np.diff(host(model.joint_qd_start)))[is_used]
        is_free = _types(model) == int(newton.JointType.FREE)
        return _joints_where(model, is_free & np.isin(np.arange(model.joint_count), joints))

    return lambda model: users(model) if model.joint_dof_count else ()


def _soft_limits(model: newton.Model) -> np.ndarray:
    own = newton.ModelBuilder.JointDofConfig()
    return _limits(model) & ~_of_balls(model) & differs(model, "joint_", own, ("limit_ke", "limit_kd"))


def _loops(model: newton.Model) -> Sequence[str]:
    children, articulations = host(model.joint_child), host(model.joint_articulation)
    in_tree = np.isin(children, children[articulations >= 0])
    return _joints_where(model, (articulations < 0) & in_tree)


def _disabled(model: newton.Model) -> np.ndarray:
    return ~host(model.joint_enabled).astype(bool)


def _of_equalities(model: newton.Model) -> np.ndarray:
    rows: Any = getattr(model, "mujoco", None)
    chosen = np.zeros(model.joint_count, dtype=bool)
    if getattr(rows, "equality_constraint_count", 0):
        is_joint = host(rows.equality_constraint_target_kind) == _JOINT_TARGET
        chosen[host(rows.equality_constraint_target)[is_joint]] = True
    return chosen


def _equalities(model: newton.Model) -> Sequence[str]:
    rows: Any = getattr(model, "mujoco")  # noqa: B009  a namespace of custom attributes
    if not rows.equality_constraint_count:
        return ()
    is_left = host(rows.equality_constraint_enabled).astype(bool) & (host(rows.equality_constraint_target) < 0)
    labels = rows.equality_constraint_label
    return [labels[index] or f"equality constraint {index}" for index in np.flatnonzero(is_left)]


def _can_collide(model: newton.Model) -> np.ndarray:
    return (host(model.shape_flags) & int(newton.ShapeFlags.COLLIDE_SHAPES)) != 0


def _colliders(model: newton.Model) -> Sequence[str]:
    bodies = host(model.shape_body)
    is_on_moved = (bodies >= 0) & np.append(is_moved(model), False)[bodies]
    return [model.shape_label[index] for index in np.flatnonzero(_can_collide(model) & is_on_moved)]


def barrels_of(model: newton.Model) -> Sequence[str]:
    """Return the labels of the cylinders that collide and whose side is an arc."""
    if not model.shape_count:
        return ()
    is_barrel = (host(model.shape_type) == int(newton.GeoType.CYLINDER)) & (host(model.shape_scale)[..., -1] > 0.0)
    return [model.shape_label[index] for index in np.flatnonzero(_can_collide(model) & is_barrel)]


def _surfaces(*names: str) -> Callable[[newton.Model], Sequence[str]]:
    """Return a function that lists the colliding shapes with another property than Newton's own, if bodies collide."""

    def users(model: newton.Model) -> Sequence[str]:
        if not _colliders(model):
            return ()
        is_other = differs(model, "shape_material_", newton.ModelBuilder.ShapeConfig(), names)
        return [model.shape_label[index] for index in np.flatnonzero(_can_collide(model) & is_other)]

    return users


def _pivots(name: str, dimension: int) -> Callable[[newton.Model], Sequence[str]]:
    """Return a function that lists the colliding shapes with a friction that contacts of some dimension have.

    The dimension is MuJoCo's smallest `condim` with this friction. Shapes of a lower one have none, whatever the
    coefficient; a model without this attribute has the friction of the coefficient.
    """
    others = _surfaces(name)

    def users(model: newton.Model) -> Sequence[str]:
        if not (found := others(model)):
            return ()
        dimensions = host(getattr(getattr(model, "mujoco", None), "condim", None))
        acts = (host(getattr(model, f"shape_material_{name}")) > 0.0) & (
            dimensions >= dimension if len(dimensions) else True
        )
        able = {model.shape_label[index] for index in np.flatnonzero(acts)}
        return [label for label in found if label in able]

    return users


RIGID_USERS: Mapping[str, Callable[[newton.Model], Sequence[str]]] = {
    **{
        f"{kind}_joints": _by_type(kind.upper())
        for kind in ("fixed", "free", "revolute", "prismatic", "ball", "d6", "distance", "rod")
    },
    "loop_joints": _loops,
    "joint_limits": _by_dof(lambda model: _limits(model) & ~_of_balls(model)),
    "ball_limits": _by_dof(lambda model: _limits(model) & _of_balls(model)),
    "joint_drives": _by_dof(lambda model: _drives(model) & ~_of_balls(model)),
    "ball_drives": _by_dof(lambda model: _drives(model) & _of_balls(model)),
    "disabled_joints": lambda model: _joints_where(model, _disabled(model) & ~_of_equalities(model)),
    "inactive_equalities": lambda model: _joints_where(model, _disabled(model) & _of_equalities(model)),
    "mimic_joints": lambda model: _joints_where(model, host(model.joint_mimic_joint) >= 0),
    "mimic_constraints": lambda model: [
        label or f"mimic constraint {index}" for index, label in enumerate(model.constraint_mimic_label)
    ],
    "equality_constraints": _equalities,
    "carried_sliders": _carried_sliders,
    "armature": _nonzero("joint_armature"),
    "joint_friction": _nonzero("joint_friction"),
    "joint_damping": _nonzero("joint_damping"),
    "joint_stiffness": _by_dof(lambda model: (host(model.joint_stiffness) != 0.0) & ~_of_balls(model)),
    "ball_stiffness": _by_dof(lambda model: (host(model.joint_stiffness) != 0.0) & _of_balls(model)),
    "free_damping": _of_free("damping"),
    "free_joint_forces": _of_free("stiffness", "friction", "armature"),
    "effort_limits": _by_dof(lambda model: _drives(model) & (host(model.joint_effort_limit) < NO_LIMIT)),
    "velocity_limits": _by_dof(_velocity_limits),
    "limit_stiffness": _by_dof(_soft_limits),
    "rigid_contacts": _colliders,
    "restitution": _surfaces("restitution"),
    "contact_stiffness": _surfaces("ke", "kd"),
    "friction_damping": _surfaces("kf"),
    "adhesion": _surfaces("ka"),
    "torsional_friction": _pivots("mu_torsional", 4),
    "rolling_friction": _pivots("mu_rolling", 6),
}
"""Functions that list the labels of the joints and shapes that use a feature, by feature."""
