"""Shapes that use a feature, found in a finalized model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import newton
import numpy as np

from .model_rows import differs, host, is_moved


def _can_collide(model: newton.Model) -> np.ndarray:
    return (host(model.shape_flags) & int(newton.ShapeFlags.COLLIDE_SHAPES)) != 0


def _colliders(model: newton.Model) -> Sequence[str]:
    """Return the shapes on moving bodies that collide with shapes."""
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


SHAPE_USERS: Mapping[str, Callable[[newton.Model], Sequence[str]]] = {
    "rigid_contacts": _colliders,
    "restitution": _surfaces("restitution"),
    "contact_stiffness": _surfaces("ke", "kd"),
    "friction_damping": _surfaces("kf"),
    "adhesion": _surfaces("ka"),
    "torsional_friction": _pivots("mu_torsional", 4),
    "rolling_friction": _pivots("mu_rolling", 6),
}
"""Functions that list the labels of the shapes that use a feature, by feature."""
