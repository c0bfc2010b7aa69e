"""The bodies that a camera follows: named by a pattern, or the robots that can move away."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
from pippin import labels
from pippin.arrays import on_host, present


def named_bodies(model: newton.Model, world: int, pattern: str) -> np.ndarray:
    """Return the bodies of a world that a pattern matches.

    Raises:
        ConfigError: The pattern matches nothing, or is not a regular expression.
    """
    own = np.flatnonzero(on_host(model.body_world) == world)
    return own[labels.match(pattern, [model.body_label[body] for body in own], "body", "follow")]


def roots(model: newton.Model, world: int) -> np.ndarray:
    """Return the root bodies of a world's robots if all of them can move in two directions or more; else none.

    Robots are the articulations of several bodies, or all articulations if each has one body.
    """
    if not model.joint_count:
        return np.zeros(0, dtype=int)
    articulations = on_host(model.joint_articulation)
    sizes = np.bincount(articulations[articulations >= 0], minlength=model.articulation_count)
    is_root = (on_host(model.joint_world) == world) & (on_host(model.joint_parent) < 0) & (articulations >= 0)
    joints = np.flatnonzero(is_root)
    if not joints.size:
        return joints
    several = joints[sizes[articulations[joints]] > 1]
    joints = several if several.size else joints
    dimensions: Any = present(model.joint_dof_dim)
    goes_away = dimensions.numpy()[joints, 0] >= 2
    return on_host(model.joint_child)[joints] if goes_away.all() else np.zeros(0, dtype=int)
