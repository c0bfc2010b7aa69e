"""Drake's multibody dynamics in double precision, as a Pippin solver: the part that knows Newton."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
from newton import ModelFlags
from pippin.arrays import on_host, present
from pippin_engines import EngineSolver, EngineWorlds, start_engine

from . import DrakeConfig

__all__ = ["SolverDrake"]

FEATURES = (
    *("gravity", "rigid_bodies", "fixed_joints", "free_joints", "revolute_joints", "prismatic_joints", "ball_joints"),
    *("d6_joints", "light_links", "massless_bodies", "carried_sliders", "joint_limits", "limit_stiffness"),
    *("joint_drives", "effort_limits", "armature", "joint_damping", "joint_stiffness", "heterogeneous_worlds"),
)
REBUILD = ModelFlags.BODY_INERTIAL_PROPERTIES | ModelFlags.JOINT_PROPERTIES

BODIES = ("world", "mass", "com", "inertia")
JOINTS = (
    *("world", "parent", "child", "dof_dim", "q_start", "qd_start", "X_p", "X_c", "axis", "armature", "damping"),
    *("stiffness", "rest_q", "limit_lower", "limit_upper", "limit_ke", "limit_kd", "target_ke", "target_kd"),
    "effort_limit",
)
"""Arrays of Newton's model that Drake is made of."""


def arrays_of(model: newton.Model) -> dict[str, Any]:
    """Return the arrays of a model by name; floats are doubles, and the kinds of joints are names."""
    names = [f"body_{name}" for name in BODIES] + [f"joint_{name}" for name in JOINTS]
    found: dict[str, Any] = {name: on_host(getattr(model, name)) for name in names}
    found = {name: array.astype(float) if array.dtype.kind == "f" else array.copy() for name, array in found.items()}
    return found | {"joint_type": [newton.JointType(kind).name for kind in on_host(model.joint_type)]}


class DrakeWorlds(EngineWorlds):
    """All worlds, whose coordinates the engine keeps in Newton's layout.

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
        dt: The substep [s].
    """

    def __init__(self, model: newton.Model, config: DrakeConfig, dt: float) -> None:
        super().__init__(model)
        joint_world = on_host(model.joint_world)
        self._worlds_of = {
            "q": np.repeat(joint_world, np.diff(on_host(model.joint_q_start))),
            "v": np.repeat(joint_world, np.diff(on_host(model.joint_qd_start))),
        }
        counts = {"q": model.joint_coord_count, "target_q": model.joint_coord_count}
        counts |= dict.fromkeys(("v", "efforts", "target_qd"), model.joint_dof_count)
        layout = {name: ((count,), float) for name, count in counts.items()}
        layout |= {"wrenches": ((model.body_count, 6), float), "gravity": ((model.world_count + 1, 3), float)}
        #: Drake.
        self.engine = start_engine(config, {"model": arrays_of(model), "dt": dt}, layout)

    def advance(
        self, state_in: newton.State, state_out: newton.State, control: newton.Control, worlds: np.ndarray, count: int
    ) -> None:
        """Read the worlds that something else wrote, take substeps, and write the joints."""
        arrays = self.engine.arrays
        for name, array in (("q", state_in.joint_q), ("v", state_in.joint_qd)):
            written = worlds[self._worlds_of[name]]
            arrays[name][written] = on_host(array)[written]
        arrays["wrenches"][:], arrays["efforts"][:] = on_host(state_in.body_f), on_host(control.joint_f)
        arrays["target_q"][:], arrays["target_qd"][:] = (
            on_host(control.joint_target_q),
            on_host(control.joint_target_qd),
        )
        arrays["gravity"][:] = on_host(self.model.gravity)
        self.engine.step(count)
        with np.errstate(over="ignore"):  # infinite in single precision, which the host finds
            present(state_out.joint_q).assign(arrays["q"])
            present(state_out.joint_qd).assign(arrays["v"])

    def take_over(self, flags: int, worlds: np.ndarray) -> None:
        """Tell the engine of the changed model; it makes plants anew whose bodies or frames have changed."""
        rebuilt = [*np.flatnonzero(worlds[:-1]).tolist(), *([-1] if worlds[-1] else [])] if flags & REBUILD else []
        self.engine.call("change", model=arrays_of(self.model), worlds=rebuilt)


class SolverDrake(EngineSolver):
    """The plugin: the solver of `[solver]` with `type = "drake"`."""

    supported_features: Mapping[str, str] = dict.fromkeys(FEATURES, "live")

    def make_worlds(self, model: newton.Model, dt: float) -> DrakeWorlds:
        """Return the worlds."""
        return DrakeWorlds(model, self.config, dt)
