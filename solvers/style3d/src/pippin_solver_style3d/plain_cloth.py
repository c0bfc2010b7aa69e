"""Style3D's own attributes of cloth that has only those of every solver: of an object of a scene, for example."""

from __future__ import annotations

from typing import Any

import numpy as np
import pippin

_CORNERS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


def fill_in(model: Any) -> None:
    """Give triangles and edges without attributes of Style3D those that follow from `tri_ke`, `tri_ka` and `edge_ke`.

    A strip that is pulled resists as one with the Lamé parameters μ and λ: with 4 μ (μ + λ) / (2 μ + λ) along and
    across, and with μ in shear. An edge resists with its length times `edge_ke`, as on `vbd`.

    Args:
        model: The model, with the attributes that Style3D adds to Newton's.

    Raises:
        ConfigError: An edge that resists bending lies between no two triangles.
    """
    own = model.style3d
    if model.tri_count:
        threads = own.tri_aniso_ke.numpy()
        shear, area = model.tri_materials.numpy()[:, :2].T
        along = 4.0 * shear * (shear + area) / np.maximum(2.0 * shear + area, 1e-30)
        is_plain = ~threads.any(axis=1)
        threads[is_plain] = np.stack([along, along, shear], axis=1)[is_plain]
        own.tri_aniso_ke.assign(threads)
    if model.edge_count:
        edges, areas, cotangents = model.edge_indices.numpy(), own.edge_rest_area.numpy(), own.edge_bending_cot.numpy()
        is_plain = areas == 0.0
        areas[is_plain] = 3.0 * model.edge_rest_length.numpy()[is_plain]  # the solver divides 3 edge_ke by them
        inner = np.flatnonzero(is_plain & (edges[:, :2] >= 0).all(axis=1))
        if len(inner):
            cotangents[inner] = _cotangents(model, edges[inner], model.edge_bending_properties.numpy()[inner, 0])
        own.edge_rest_area.assign(areas)
        own.edge_bending_cot.assign(cotangents)


def _cotangents(model: Any, edges: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """Return the cotangents at both ends of edges in their two triangles at rest, which are the solver's weights."""
    found, triangles = {}, []
    if model.tri_count:
        sides = np.swapaxes(np.linalg.inv(model.tri_poses.numpy()), 1, 2)
        places = np.concatenate([np.zeros_like(sides[:, :1]), sides], axis=1)
        triangles = zip(model.tri_indices.numpy().tolist(), places, strict=True)
    for corners, points in triangles:
        for at, end, opposite in _CORNERS:
            one, other = points[end] - points[at], points[opposite] - points[at]
            sine = abs(one[0] * other[1] - one[1] * other[0])
            found[corners[opposite], corners[at], corners[end]] = one @ other / max(sine, 1e-12)
    rows = []
    for number, (first, second, start, end) in enumerate(edges.tolist()):
        keys = [(first, start, end), (second, start, end), (first, end, start), (second, end, start)]
        if stiffness[number] > 0.0 and not all(key in found for key in keys):
            raise pippin.ConfigError(
                f"type: 'style3d' bends cloth between triangles alone, and the edge of the particles {start} and {end}"
                " has none on one side; add them, or leave the edge out"
            )
        rows.append([found.get(key, 0.0) for key in keys])
    return np.array(rows, dtype=np.float32)
