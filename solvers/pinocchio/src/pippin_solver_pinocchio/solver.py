"""Pinocchio as a solver: free motion of robots of hinges, sliders and free bodies, in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.solving import EngineFrames
from pippin_engines import EngineSolver, TreeWorlds

__all__ = ["SolverPinocchio"]

FRAMES = EngineFrames(point="origin", linear_axes="inner", angular_axes="inner")
"""A free joint of Pinocchio: its pose in the parent's frame, and the velocity of its origin, in its own axes."""


def mechanism(model: newton.Model) -> dict[str, Any]:
    """Return the joints and bodies of the first world; all worlds hold the same."""
    rows, bodies = model.joint_count // model.world_count, model.body_count // model.world_count
    of_joints = {name: on_host(getattr(model, f"joint_{name}"))[:rows] for name in ("type", "parent", "child")}
    sizes, starts = on_host(model.joint_dof_dim)[:rows].sum(1), on_host(model.joint_qd_start)
    axes = np.zeros((rows, 3))
    is_axis = np.repeat(sizes == 1, sizes)  # free joints have no dampers here
    axes[sizes == 1] = on_host(model.joint_axis)[starts[:rows][sizes == 1]]
    of_bodies = {
        name: on_host(getattr(model, f"body_{name}"))[:bodies].astype(float) for name in ("mass", "com", "inertia")
    }
    return {
        "kinds": [newton.JointType(kind).name for kind in of_joints["type"]],
        "parents": of_joints["parent"].tolist(),
        "children": of_joints["child"].tolist(),
        "outer": on_host(model.joint_X_p)[:rows].astype(float),
        "inner": on_host(model.joint_X_c)[:rows].astype(float),
        "axes": axes,
        "armature": on_host(model.joint_armature)[: starts[rows]].astype(float),
        "damping": np.where(is_axis, on_host(model.joint_damping)[: starts[rows]], 0.0),
        **of_bodies,
    }


class SolverPinocchio(EngineSolver):
    """The component: it builds the worlds, and tells them which to read."""

    supported_features: Mapping[str, str] = {"gravity": "live"} | dict.fromkeys(
        (
            *(
                "armature",
                "carried_sliders",
                "fixed_joints",
                "free_joints",
                "joint_damping",
                "light_links",
                "massless_bodies",
            ),
            *("prismatic_joints", "revolute_joints", "rigid_bodies"),
        ),
        "build",
    )
    arrays_alike = (
        *("joint_X_p", "joint_X_c", "joint_axis", "joint_armature", "joint_damping"),
        *("body_mass", "body_com", "body_inertia"),
    )

    def make_worlds(self, model: newton.Model, dt: float) -> TreeWorlds:
        """Return the worlds, which are stepped one after another."""
        return TreeWorlds(model, self.config, FRAMES, mechanism(model) | {"dt": dt})
