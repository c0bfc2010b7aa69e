"""Movable bodies without mass, which nothing can accelerate."""

from __future__ import annotations

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.errors import ConfigError
from pippin.spelling import listed


def refuse_massless(model: newton.Model, where: str = "scene") -> None:
    """Refuse bodies that move but have no mass, if the bodies that they carry have none either.

    A solver in reduced coordinates would divide by zero, and others would let the body hang in the air. Kinematic
    bodies need no mass, because users move them.
    """
    if not model.body_count:
        return
    carried, is_moved = on_host(model.body_mass).astype(float), np.ones(model.body_count, dtype=bool)
    if model.joint_count:
        parents, children = on_host(model.joint_parent), on_host(model.joint_child)
        in_tree = on_host(model.joint_articulation) >= 0
        for joint in np.flatnonzero(in_tree & (parents >= 0))[::-1].tolist():  # a tree lists parents first
            carried[parents[joint]] += carried[children[joint]]
        is_moved[children[on_host(model.joint_type) == int(newton.JointType.FIXED)]] = False
    is_moved &= (on_host(model.body_flags) & int(newton.BodyFlags.KINEMATIC)) == 0
    labels = [model.body_label[body] for body in np.flatnonzero(is_moved & (carried == 0.0))]
    if labels:
        raise ConfigError(
            f"{where}: movable bodies without mass, with all that they carry: {listed(labels)}; give each a mass, or"
            " a shape with a density, or hold it with a fixed joint"
        )
