"""Filters of collisions: the pairs of shapes that Newton lets collide, brought in line with MuJoCo's rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
from pippin.assets.fidelity.pairs import colliding, shape_pairs
from pippin.assets.untyped import mujoco


def match_pairs(builder: newton.ModelBuilder, model: Any, *, is_as_written: bool) -> None:
    """Let no shapes collide that never do in MuJoCo, such as a shin and a toe that is welded to the foot below it.

    Newton's importer filters neighbours in the tree only, so solvers with Newton's contacts would push them apart.
    """
    _free_loops(builder, model)
    if not is_as_written:
        return
    names = {model.geom(index).name.replace("-", "_"): index for index in range(model.ngeom)}
    geoms = np.array([_geom(label.replace("-", "_"), names) for label in builder.shape_label], dtype=int)
    pairs = shape_pairs(builder)
    pairs = pairs[(geoms[pairs] >= 0).all(axis=1)]
    can = colliding(model)[tuple(geoms[pairs].T)]
    for first, second in pairs[~can].tolist():
        builder.add_shape_collision_filter_pair(first, second)


def _geom(label: str, names: Mapping[str, int]) -> int:
    """Return the geom that a path ends with, -1 for none; a name may hold a slash."""
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
