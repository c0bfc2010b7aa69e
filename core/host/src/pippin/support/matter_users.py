"""Objects of matter that use a feature, found in a finalized model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import newton
import numpy as np
from pippin.attribute_rows import numbers, texts

from .model_rows import host

_FLAT = 1e-3
"""Angle up to which an edge counts as flat [rad]: of a flat mesh, it is a rounding."""

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
    """Return a function that counts the elements whose row of materials is chosen."""

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


MATTER_USERS: Mapping[str, Callable[[newton.Model], Sequence[str]]] = {
    "activations": _activations,
    "air_drag": _rows("tri_materials", "triangles", lambda rows: np.any(rows[:, 3:] != 0.0, axis=1)),
    "bending_damping": _rows("edge_bending_properties", "edges", lambda rows: rows[:, 1] != 0.0),
    "face_contacts": _face_contacts,
    "particle_contacts": lambda model: texts(model, "pippin:grains_label"),
    "rest_angles": _rest_angles,
    "tetrahedron_damping": _rows("tet_materials", "tetrahedra", lambda rows: rows[:, 2] != 0.0),
    "triangle_damping": _rows("tri_materials", "triangles", _damps),
}
"""Functions that list the objects of matter that use a feature, by feature."""
