"""PhysX as a solver: the part that knows Newton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.solving import EngineFrames
from pippin_engines import EngineSolver, TreeWorlds

from . import PhysXConfig
from .stage import ALIKE, Stage

__all__ = ["SolverPhysX"]

FRAMES = EngineFrames(pose="body")
"""A free joint of PhysX: the pose of its body in the world, and the velocity of its centre of mass."""

LIVE = (
    *("armature", "effort_limits", "gravity", "joint_damping", "joint_drives", "joint_friction"),
    "rigid_bodies",
)
BUILT = (
    *("carried_sliders", "fixed_joints", "free_joints", "joint_limits", "prismatic_joints", "restitution"),
    *("revolute_joints", "rigid_contacts"),
)
"""Features that each world may change, and those that are read once."""


class PhysXWorlds(TreeWorlds):
    """All worlds of a model, each a scene of PhysX.

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
        dt: The substep [s].
    """

    def __init__(self, model: newton.Model, config: PhysXConfig, dt: float) -> None:
        self._stage = stage = Stage(model, config)
        arguments = {name: getattr(stage, name)() for name in ("usd", "trees", "numbers")}
        arguments |= {"gravity": stage.gravity, "dt": dt, "threads": config.threads}
        columns = {"target_q": model.joint_coord_count, "target_v": model.joint_dof_count}
        columns = {name: count // model.world_count for name, count in columns.items()}
        super().__init__(model, config, FRAMES, arguments, **columns)

    def fill(self, control: newton.Control) -> None:
        """Write the targets of drives."""
        arrays = self.engine.arrays
        for name, target in (("target_q", control.joint_target_q), ("target_v", control.joint_target_qd)):
            arrays[name][:] = on_host(target).reshape(arrays[name].shape)

    def take_over(self, flags: int, worlds: np.ndarray) -> None:
        """Give the worlds the numbers of the model; those that did not change stay."""
        self.engine.call("change", **self._stage.numbers())


class SolverPhysX(EngineSolver):
    """The plugin: the solver of `[solver]` with `type = "physx"`."""

    supported_features: Mapping[str, str] = dict.fromkeys(LIVE, "live") | dict.fromkeys(BUILT, "build")
    engine_memory = "own"
    arrays_alike = ALIKE
    notes: Sequence[str] = ()

    def faults(self, model: newton.Model) -> Iterator[str]:
        """Yield what PhysX, or this wrapper, does not have."""
        stage = Stage(model, self.config)
        self.notes = list(stage.notes())
        yield from stage.faults()

    def make_worlds(self, model: newton.Model, dt: float) -> PhysXWorlds:
        """Return the worlds."""
        return PhysXWorlds(model, self.config, dt)
