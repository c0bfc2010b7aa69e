"""Pairs of geoms that can collide by MuJoCo's rules, and pairs of shapes that can by Newton's."""

from __future__ import annotations

from typing import Any

import mujoco
import newton
import numpy as np

_FLAT = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
"""Types that do not collide with each other."""


def colliding_pairs(model: Any) -> set[tuple[int, int]]:
    """Return the pairs of geoms that can collide, each with the smaller index first."""
    rows, columns = np.nonzero(np.triu(colliding(model), 1))
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def colliding(model: Any) -> np.ndarray:
    """Return which geoms can collide, shape [geom, geom].

    The masks, the excluded bodies and the filter of parent and child decide; a pair that the file lists always can.
    """
    if not model.ngeom:
        return np.zeros((0, 0), dtype=bool)
    collides = (model.geom_contype[:, None] & model.geom_conaffinity[None, :]) != 0
    can = (collides | collides.T) & _by_body(model)
    can[model.pair_geom1, model.pair_geom2] = True
    flat = np.isin(model.geom_type, _FLAT)
    can &= ~(flat[:, None] & flat)
    return can | can.T


def solid_shapes(builder: newton.ModelBuilder) -> list[int]:
    """Return the shapes that can collide with other shapes."""
    solid, site = int(newton.ShapeFlags.COLLIDE_SHAPES), int(newton.ShapeFlags.SITE)
    return [index for index, flags in enumerate(builder.shape_flags) if flags & solid and not flags & site]


def shape_pairs(builder: newton.ModelBuilder) -> np.ndarray:
    """Return the pairs of shapes that Newton lets collide, each with the smaller index first, shape [pair, 2]."""
    groups = np.zeros(builder.shape_count, dtype=int)
    solids = solid_shapes(builder)
    groups[solids] = np.array(builder.shape_collision_group, dtype=int)[solids]
    can = np.triu(_by_group(groups[:, None], groups[None, :]), 1)
    filtered = np.array(builder.shape_collision_filter_pairs, dtype=int).reshape(-1, 2)
    can[filtered.min(axis=1), filtered.max(axis=1)] = False
    return np.argwhere(can)


def _by_body(model: Any) -> np.ndarray:
    body = model.geom_bodyid
    weld = model.body_weldid[body]
    moves = model.body_treeid[body] >= 0
    can = (weld[:, None] != weld[None, :]) & (moves[:, None] | moves[None, :])
    if not model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT):
        parent = model.body_weldid[model.body_parentid[weld]]
        is_child = (weld[None, :] == parent[:, None]) & (weld[None, :] != 0) & (weld[:, None] != 0)
        can &= ~(is_child | is_child.T)
    for signature in model.exclude_signature:
        first, second = body == (int(signature) >> 16), body == (int(signature) & 0xFFFF)
        excluded = first[:, None] & second[None, :]
        can &= ~(excluded | excluded.T)
    return can


def _by_group(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return if two groups collide: equal positive ones, and a negative one with every other."""
    is_one = (first > 0) & (first == second)
    return (first != 0) & (second != 0) & (is_one | (((first < 0) | (second < 0)) & (first != second)))
