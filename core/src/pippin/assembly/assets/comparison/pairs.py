"""Pairs of geoms that can collide, by MuJoCo's rules."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

__all__ = ["colliding_pairs"]

_mujoco: Any = mujoco

_FLAT = (int(_mujoco.mjtGeom.mjGEOM_PLANE), int(_mujoco.mjtGeom.mjGEOM_HFIELD))
"""Types that do not collide with each other."""


def colliding_pairs(model: Any) -> set[tuple[int, int]]:
    """Return the pairs of geoms that can collide, each with the smaller index first.

    The masks, the excluded bodies and the filter of parent and child decide; a pair that the file lists always can.
    """
    if not model.ngeom:
        return set()
    can = _by_mask(model) & _by_body(model)
    for listed in range(model.npair):
        can[model.pair_geom1[listed], model.pair_geom2[listed]] = True
        can[model.pair_geom2[listed], model.pair_geom1[listed]] = True
    flat = np.isin(model.geom_type, _FLAT)
    can &= ~(flat[:, None] & flat)
    rows, columns = np.nonzero(np.triu(can | can.T, 1))
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def _by_mask(model: Any) -> np.ndarray:
    kinds, affinities = model.geom_contype[:, None], model.geom_conaffinity[None, :]
    return ((kinds & affinities) | (kinds & affinities).T) != 0


def _by_body(model: Any) -> np.ndarray:
    body = model.geom_bodyid
    weld = model.body_weldid[body]
    moves = model.body_treeid[body] >= 0
    can = (weld[:, None] != weld[None, :]) & (moves[:, None] | moves[None, :])
    if not model.opt.disableflags & int(_mujoco.mjtDisableBit.mjDSBL_FILTERPARENT):
        parent = model.body_weldid[model.body_parentid[weld]]
        is_child = (weld[None, :] == parent[:, None]) & (weld[None, :] != 0) & (weld[:, None] != 0)
        can &= ~(is_child | is_child.T)
    for signature in model.exclude_signature:
        first, second = body == (int(signature) >> 16), body == (int(signature) & 0xFFFF)
        excluded = first[:, None] & second[None, :]
        can &= ~(excluded | excluded.T)
    return can
