"""Joints that are springs: how far they give way."""

from __future__ import annotations

import newton
import numpy as np
from pippin.arrays import on_host

_FREE = tuple(int(newton.JointType[name]) for name in ("FREE", "DISTANCE", "ROD"))

_LEAST = 1e-4
"""Distance by which a joint gives way that is worth a note [m]."""


def soft_joint_notes(model: newton.Model, stiffness: float, key: str) -> list[str]:
    """Return a note with the joint that gives way most under the weight that it carries, if it is more than 0.1 mm.

    Args:
        model: Newton's model; the joints of its first world are looked at.
        stiffness: Of each joint [N/m].
        key: That of the configuration.
    """
    joints = np.flatnonzero(on_host(model.joint_world) <= 0) if model.joint_count else []
    kinds, parents, children = (on_host(getattr(model, f"joint_{name}")) for name in ("type", "parent", "child"))
    loads, most = on_host(model.body_mass).astype(float), (0.0, "")
    for joint in reversed(joints):  # of a tree, children come after their parents
        load = loads[children[joint]]
        if parents[joint] >= 0:
            loads[parents[joint]] += load
        if kinds[joint] not in _FREE:
            most = max(most, (load, model.joint_label[joint]))
    sag = most[0] * float(np.linalg.norm(on_host(model.gravity)[0])) / stiffness if stiffness else 0.0
    if sag < _LEAST:
        return []
    return [
        f"joints are springs of {stiffness:g} N/m, which give way: {most[1]!r} by up to {1e3 * sag:.2g} mm under the"
        f" weight that it carries; raise solver.{key}, which needs shorter steps"
    ]
