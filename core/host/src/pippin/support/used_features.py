"""Features used by a scene, found in its finalized model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import newton
import numpy as np
import warp as wp
from pippin.attribute_rows import numbers, texts
from pippin.indices import listed_worlds

from .features import ASKED, FEATURES
from .rigid_users import RIGID_USERS, host, is_moved

_FLAT = 1e-3
"""Angle up to which an edge counts as flat [rad]: of a flat mesh, it is a rounding."""

_COUNTED = ("body", "joint", "shape", "particle")
"""What each world has as many of, if worlds are equal."""

_MESHES = (int(newton.GeoType.MESH), int(newton.GeoType.CONVEX_MESH))

_TRI_KD = 10.0
"""Damping that Newton gives to every triangle of which none is stated."""


def _face_contacts(model: newton.Model) -> Sequence[str]:
    """Return the objects of particles that share a world with other ones, if one of them has faces."""
    labels, worlds = texts(model, "pippin:grains_label"), [*numbers(model, "pippin:grains_world")]
    loose = len(labels)
    for kind in ("surface", "volume"):
        if getattr(model, f"{kind}_label"):
            labels += getattr(model, f"{kind}_label")
            worlds += [*host(getattr(model, f"{kind}_world"))]
    if len(labels) == loose:
        return ()
    shared = np.bincount(np.array(worlds) + 1, minlength=model.world_count + 1)
    others = [shared[world + 1] + (shared[0] if world >= 0 else shared[1:].sum()) for world in worlds]
    return [label for label, count in zip(labels, others, strict=True) if count > 1]


def _activations(model: newton.Model) -> Sequence[str]:
    counts = {
        "triangles": np.count_nonzero(host(model.tri_activations)),
        "tetrahedra": np.count_nonzero(host(model.tet_activations)),
    }
    return [f"{count} {what}" for what, count in counts.items() if count]


def _rows(name: str, what: str, chosen: Callable[[np.ndarray], np.ndarray]) -> Callable[[newton.Model], Sequence[str]]:

    def users(model: newton.Model) -> Sequence[str]:
        rows = host(getattr(model, name))
        count = int(chosen(rows).sum()) if len(rows) else 0
        return [f"{count} {what}"] if count else ()

    return users


def _damps(rows: np.ndarray) -> np.ndarray:
    """Tell which elastic triangles have a damping that somebody stated, and not the one that Newton gives to all."""
    return np.any(rows[:, :2] != 0.0, axis=1) & ~np.isin(rows[:, 2], (0.0, _TRI_KD))


def _rest_angles(model: newton.Model) -> Sequence[str]:
    """Return the edges of cloth that resist bending and are bent at rest; cloth of panels rests as they say."""
    if not model.edge_count:
        return ()
    is_bent = np.abs(host(model.edge_rest_angle)) > _FLAT
    is_bent &= host(model.edge_bending_properties)[:, 0] != 0.0
    areas = host(getattr(getattr(model, "style3d", None), "edge_rest_area", None))
    if len(areas):
        is_bent &= areas == 0.0
    count = int(is_bent.sum())
    return [f"{count} edges"] if count else ()


def _unequal_worlds(model: newton.Model) -> Sequence[str]:
    return _worlds(_differences(model)[0])


def _worlds_with_other_meshes(model: newton.Model) -> Sequence[str]:
    is_other, has_other_meshes = _differences(model)
    return () if is_other.any() else _worlds(has_other_meshes)


def _worlds(chosen: np.ndarray) -> Sequence[str]:
    return [listed_worlds(np.flatnonzero(chosen))] if chosen.any() else ()


def _differences(model: newton.Model) -> tuple[np.ndarray, np.ndarray]:
    """Tell which worlds hold something else than the first one besides meshes, and which hold other shapes."""
    starts = {what: host(getattr(model, f"{what}_world_start"))[: model.world_count + 1] for what in _COUNTED}
    joints, shapes, kinds = host(model.joint_world), host(model.shape_world), host(model.shape_type)
    sources = np.fromiter(map(id, model.shape_source), dtype=np.int64, count=model.shape_count)
    _, firsts, known = np.unique(sources, return_index=True, return_inverse=True)
    hashes = np.array([hash(model.shape_source[first]) for first in firsts.tolist()], dtype=np.int64)
    is_mesh = np.isin(kinds, _MESHES)
    others = np.append(0, np.cumsum(~is_mesh))

    def own(bodies: wp.array | None, worlds: np.ndarray) -> np.ndarray:
        return np.maximum(host(bodies) - starts["body"][worlds], -1)

    trees = [host(model.joint_type), *host(model.joint_dof_dim).reshape(-1, 2).T]
    trees += [own(each, joints) for each in (model.joint_parent, model.joint_child)]
    contents = np.stack([kinds, own(model.shape_body, shapes), hashes[known]], axis=1)
    is_other = _unlike(np.stack(trees, axis=1), starts["joint"]) | _unlike(contents[~is_mesh], others[starts["shape"]])
    for what in ("body", "particle"):
        counts = np.diff(starts[what])
        is_other |= counts != counts[0]
    return is_other, _unlike(contents, starts["shape"])


def _unlike(rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Tell for each world whether its rows differ from those of the first world."""
    counts = np.diff(starts)
    is_other = counts != counts[0]
    own = rows[starts[:-1][~is_other, None] + np.arange(counts[0])]
    is_other[~is_other] = np.any(own != own[0], axis=(1, 2))
    return is_other


def particles_touch(model: newton.Model) -> bool:
    """Return whether some world has particles that can touch something."""
    return bool(model.particle_count) and (model.particle_max_radius > 0.0 or bool(model.tri_count))


def _particle_worlds(model: newton.Model) -> Sequence[str]:
    if not particles_touch(model):
        return ()
    has_some = np.diff(host(model.particle_world_start)[: model.world_count + 1]) > 0
    return _worlds(has_some) if np.count_nonzero(has_some) > 1 else ()


def _pulled_worlds(model: newton.Model) -> Sequence[str]:
    can_move = is_moved(model).any() or np.any(host(model.particle_mass) > 0.0)
    pulled = np.any(host(model.gravity) != 0.0, axis=-1)[: model.world_count]
    return _worlds(pulled) if can_move else ()


LIGHT = 1e-8
"""Mass below which a link is there for its joint alone [kg]."""


def used_features(model: newton.Model, direct_actuators: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the users of each feature; features without users are left out. Reads arrays of the model on the host.

    `direct_actuators` are the asset's own that act only if the solver applies `control.mujoco.ctrl`.
    """
    users_of = {**_USERS, "asset_actuators": lambda _: direct_actuators}
    found = {name: users_of[name](model) for name in FEATURES if name not in ASKED}
    return {name: users for name, users in found.items() if users}


def _counted(*attributes: str) -> Callable[[newton.Model], Sequence[str]]:

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
    **RIGID_USERS,
    "activations": _activations,
    "air_drag": _rows("tri_materials", "triangles", lambda rows: np.any(rows[:, 3:] != 0.0, axis=1)),
    "bending_damping": _rows("edge_bending_properties", "edges", lambda rows: rows[:, 1] != 0.0),
    "face_contacts": _face_contacts,
    "particle_contacts": lambda model: texts(model, "pippin:grains_label"),
    "rest_angles": _rest_angles,
    "tetrahedron_damping": _rows("tet_materials", "tetrahedra", lambda rows: rows[:, 2] != 0.0),
    "triangle_damping": _rows("tri_materials", "triangles", _damps),
    "gravity": _pulled_worlds,
    "heterogeneous_worlds": _unequal_worlds,
    "different_meshes": _worlds_with_other_meshes,
    "body_variants": lambda model: [model.body_label[index] for index in np.flatnonzero(host(model.body_variant) >= 0)],
    "particle_worlds": _particle_worlds,
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
    # Triangles that only collide do not resist stretching, and need no support by a solver.
    "triangles": _rows("tri_materials", "triangles", lambda rows: np.any(rows[:, :2] != 0.0, axis=1)),
    "bending": _rows("edge_bending_properties", "edges", lambda rows: rows[:, 0] != 0.0),
    "tetrahedra": _counted("tet_count"),
    "gradients": lambda model: ["simulation.requires_grad"] if model.requires_grad else (),
    "gravity_compensation": _compensated,
}
"""For each other feature, a function that lists its users in a model: labels or counts."""
