"""PhysX as a solver: the part that knows Newton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import newton
from pippin.solving import EngineFrames
from pippin_engines import EngineSolver, FirstWorld, TreeWorlds

from .stage import ALIKE, FORMS, Stage

__all__ = ["SolverPhysX"]

FRAMES = EngineFrames(pose="body")
"""A free joint of PhysX: the pose of its body in the world, and the velocity of its centre of mass."""

HULL = 34
"""Most points of a convex mesh: PhysX leaves points out of a hull that has more than 64 triangles."""

LIVE = ("armature", "effort_limits", "gravity", "joint_damping", "joint_drives", "joint_friction", "joint_limits")
BUILT = ("carried_sliders", "fixed_joints", "free_joints", "prismatic_joints", "revolute_joints", "restitution")
"""Features that each world may change, and those that are read once."""


class SolverPhysX(EngineSolver):
    """The plugin: the solver of `[solver]` with `type = "physx"`."""

    supported_features: Mapping[str, str] = {
        **dict.fromkeys((*LIVE, "rigid_bodies"), "live"),
        **dict.fromkeys((*BUILT, "rigid_contacts"), "build"),
    }
    supported_observables = frozenset({"contact_f"})
    engine_memory = "own"
    arrays_alike = ALIKE
    notes: Sequence[str] = ()

    def faults(self, model: newton.Model) -> Iterator[str]:
        """Yield what PhysX, or this wrapper, does not have."""
        world = FirstWorld(model)
        labels = [shape.label for shape in world.shapes if shape.kind == "ELLIPSOID"]
        told = "within 5 % of its size, with normals that are 0.24 rad off in the mean"
        self.notes = [f"ellipsoid {label!r} is a convex mesh in PhysX, {told}" for label in labels]
        yield from world.faults("physx", FORMS, HULL, across_joints=False)

    def make_worlds(self, model: newton.Model, dt: float) -> TreeWorlds:
        """Return all worlds, each a scene of PhysX."""
        stage = Stage(model, self.config)
        arguments = stage.arguments() | {"dt": dt, "threads": self.config.threads}
        return TreeWorlds(model, self.config, FRAMES, arguments, stage.numbers)
