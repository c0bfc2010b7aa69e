"""Features used by a scene, found in its finalized model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import newton
import numpy as np
from pippin.attribute_rows import numbers, texts

from .features import ASKED, FEATURES
from .joint_users import JOINT_USERS
from .matter_users import MATTER_USERS
from .model_rows import host, is_moved
from .shape_users import SHAPE_USERS
from .world_users import WORLD_USERS

_DIRECT = "asset_actuators"

LIGHT = 1e-8
"""Mass below which a link is there for its joint alone [kg]."""


def used_features(model: newton.Model, direct_actuators: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the users of each feature; features without users are left out. Reads arrays of the model on the host.

    `direct_actuators` are the asset's own that act only if the solver applies `control.mujoco.ctrl`.
    """
    found = {
        name: direct_actuators if name == _DIRECT else _USERS[name](model) for name in FEATURES if name not in ASKED
    }
    return {name: users for name, users in found.items() if users}


def _counted(*attributes: str) -> Callable[[newton.Model], Sequence[str]]:
    """Return a function that lists the counts of elements without labels, such as particles."""

    def users(model: newton.Model) -> Sequence[str]:
        counts = {name: getattr(model, name) for name in attributes}
        return [f"{count} {name.removesuffix('_count')}" for name, count in counts.items() if count]

    return users


def _triangles(model: newton.Model) -> Sequence[str]:
    """Return the triangles that resist stretching. Triangles that only collide need no support by a solver."""
    count = int(np.any(host(model.tri_materials)[:, :2] != 0.0, axis=1).sum()) if model.tri_count else 0
    return [f"{count} triangles"] if count else ()


def _bending(model: newton.Model) -> Sequence[str]:
    count = int((host(model.edge_bending_properties)[:, 0] != 0.0).sum()) if model.edge_count else 0
    return [f"{count} edges"] if count else ()


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


def _massless(model: newton.Model) -> Sequence[str]:
    """Return the bodies without a mass that fixed joints join to a moving body.

    Those joined to the world need no mass, and a body that no fixed joint holds is static without one.
    """
    chosen = (host(model.body_mass) == 0.0) & is_moved(model)
    if not chosen.any():
        return ()
    heads = np.arange(-1, model.body_count)  # of the body before in the array; entry 0 stands for the world
    is_fixed = host(model.joint_type) == int(newton.JointType.FIXED)
    heads[host(model.joint_child)[is_fixed] + 1] = host(model.joint_parent)[is_fixed]
    for _ in range(model.body_count.bit_length()):  # each pass doubles the way that is gone
        heads = heads[heads + 1]
    moves_with = (heads[1:] >= 0) & (heads[1:] != np.arange(model.body_count))
    return [model.body_label[index] for index in np.flatnonzero(chosen & moves_with)]


def _kinematic(model: newton.Model) -> Sequence[str]:
    """Return the kinematic bodies, if there are bodies that they can carry; held segments of a rod carry none."""
    is_free, is_segment = is_moved(model), np.zeros(model.body_count, dtype=bool)
    is_rod = host(model.joint_type) == int(newton.JointType.ROD)
    is_segment[host(model.joint_child)[is_rod]] = is_segment[host(model.joint_parent)[is_rod]] = True
    users = np.flatnonzero(~is_free & ~is_segment)
    return [model.body_label[index] for index in users] if is_free.any() else ()


def _compensated(model: newton.Model) -> Sequence[str]:
    """Return the bodies on which a part of gravity does not act, as MJCF's `gravcomp` and the views say it."""
    factors = host(getattr(getattr(model, "mujoco", None), "gravcomp", None))
    return [model.body_label[index] for index in np.flatnonzero(factors != 0.0)]


def _light_links(model: newton.Model) -> Sequence[str]:
    mass = host(model.body_mass)
    return [model.body_label[index] for index in np.flatnonzero(is_moved(model) & (mass > 0.0) & (mass < LIGHT))]


_USERS: Mapping[str, Callable[[newton.Model], Sequence[str]]] = {
    **JOINT_USERS,
    **MATTER_USERS,
    **SHAPE_USERS,
    **WORLD_USERS,
    "rigid_bodies": lambda model: [model.body_label[index] for index in np.flatnonzero(is_moved(model))],
    "kinematic_bodies": _kinematic,
    "light_links": _light_links,
    "massless_bodies": _massless,
    "tendons": _counted("tendon_count"),
    "mujoco_tendons": _mujoco_tendons,
    "muscles": _counted("muscle_count"),
    "attachments": _counted("attachment_particle_body_count"),
    "particles": _counted("particle_count"),
    "springs": _counted("spring_count"),
    "triangles": _triangles,
    "bending": _bending,
    "tetrahedra": _counted("tet_count"),
    "gradients": lambda model: ["simulation.requires_grad"] if model.requires_grad else (),
    "gravity_compensation": _compensated,
}
"""For each other feature, a function that lists its users in a model: labels or counts."""
