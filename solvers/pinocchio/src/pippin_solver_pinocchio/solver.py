"""Pinocchio as a solver: free motion of robots of hinges, sliders and free bodies, in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
from pippin.solving import EngineFrames
from pippin_engines import EngineSolver, FirstWorld, TreeWorlds

__all__ = ["SolverPinocchio"]

FRAMES = EngineFrames(point="origin", linear_axes="inner", angular_axes="inner")
"""A free joint of Pinocchio: its pose in the parent's frame, and the velocity of its origin, in its own axes."""

FEATURES = (
    *("armature", "carried_sliders", "fixed_joints", "free_joints", "joint_damping", "light_links", "massless_bodies"),
    *("prismatic_joints", "revolute_joints", "rigid_bodies"),
)
"""Features that are read once."""

NUMBERS = ("body_mass", "body_com", "body_inertia", "joint_armature", "joint_damping")
"""Arrays of numbers, which all worlds share, as they do the frames of joints."""


def mechanism(model: newton.Model) -> dict[str, Any]:
    """Return the joints and bodies of the first world; all worlds hold the same."""
    world = FirstWorld(model)
    mass, com, inertia, armature, damping = (own[0] for own in world.numbers(*NUMBERS))
    for joint in world.joints:
        if joint.kind == "FREE":
            damping[joint.qd] = 0.0  # free joints have no dampers here
    names = {"kinds": "kind", "parents": "parent", "children": "child", "outer": "outer", "inner": "inner"}
    return {
        **{plural: [getattr(joint, name) for joint in world.joints] for plural, name in names.items()},
        "axes": np.array([joint.axis for joint in world.joints]),
        "armature": armature,
        "damping": damping,
        "mass": mass,
        "com": com,
        "inertia": inertia,
    }


class SolverPinocchio(EngineSolver):
    """The component: it builds the worlds, and tells them which to read."""

    supported_features: Mapping[str, str] = {"gravity": "live"} | dict.fromkeys(FEATURES, "build")
    arrays_alike = ("joint_X_p", "joint_X_c", "joint_axis", *NUMBERS)

    def make_worlds(self, model: newton.Model, dt: float) -> TreeWorlds:
        """Return the worlds, which are stepped one after another."""
        return TreeWorlds(model, self.config, FRAMES, mechanism(model) | {"dt": dt})
