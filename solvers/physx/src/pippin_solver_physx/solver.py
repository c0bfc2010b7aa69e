"""PhysX as a solver: the part that knows Newton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import newton
from pippin.solving import EngineFrames
from pippin_engines import EngineSolver, TreeWorlds

from .stage import ALIKE, Stage

__all__ = ["SolverPhysX"]

FRAMES = EngineFrames(pose="body")
"""A free joint of PhysX: the pose of its body in the world, and the velocity of its centre of mass."""

LIVE = (
    *("armature", "effort_limits", "gravity", "joint_damping", "joint_drives", "joint_friction", "joint_limits"),
    "rigid_bodies",
)
BUILT = (
    *("carried_sliders", "fixed_joints", "free_joints", "prismatic_joints", "restitution", "revolute_joints"),
    "rigid_contacts",
)
"""Features that each world may change, and those that are read once."""


class SolverPhysX(EngineSolver):
    """The plugin: the solver of `[solver]` with `type = "physx"`."""

    supported_features: Mapping[str, str] = dict.fromkeys(LIVE, "live") | dict.fromkeys(BUILT, "build")
    engine_memory = "own"
    arrays_alike = ALIKE
    notes: Sequence[str] = ()

    def faults(self, model: newton.Model) -> Iterator[str]:
        """Yield what PhysX, or this wrapper, does not have."""
        stage = Stage(model, self.config)
        self.notes = stage.notes()
        yield from stage.faults()

    def make_worlds(self, model: newton.Model, dt: float) -> TreeWorlds:
        """Return all worlds, each a scene of PhysX."""
        stage = Stage(model, self.config)
        arguments = stage.arguments() | {"dt": dt, "threads": self.config.threads}
        return TreeWorlds(model, self.config, FRAMES, arguments, stage.numbers)
