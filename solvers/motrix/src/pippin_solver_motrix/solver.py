"""MotrixSim as a solver: the part that knows Newton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import newton
from pippin.solving import EngineFrames
from pippin_engines import EngineSolver, FirstWorld, TreeWorlds

from .scene import ALIKE, SIZES, Scene

__all__ = ["SolverMotrix"]

FRAMES = EngineFrames(pose="body", point="origin", angular_axes="inner")
"""A free joint of MotrixSim: the pose of its body in the world, and the velocity of its origin; its spin is its own."""

LIVE = ("armature", "gravity", "joint_drives", "joint_friction", "rigid_bodies")
BUILT = (
    *("carried_sliders", "d6_joints", "effort_limits", "fixed_joints", "free_joints", "joint_damping"),
    *("joint_limits", "joint_stiffness", "prismatic_joints", "revolute_joints", "rigid_contacts"),
)
"""Features that each world may change, and those that are read once."""

SOFT = (
    "contacts and limits yield by MotrixSim's law, by up to a fifth more than MuJoCo's, and corners of meshes are off"
)
"""What a run of shapes is told."""


class SolverMotrix(EngineSolver):
    """The plugin: the solver of `[solver]` with `type = "motrix"`."""

    supported_features: Mapping[str, str] = dict.fromkeys(LIVE, "live") | dict.fromkeys(BUILT, "build")
    arrays_alike = ALIKE

    def faults(self, model: newton.Model) -> Iterator[str]:
        """Yield which shapes MotrixSim, or this wrapper, does not have."""
        yield from FirstWorld(model).faults("motrix", SIZES)

    def make_worlds(self, model: newton.Model, dt: float) -> TreeWorlds:
        """Return all worlds in one batch."""
        scene = Scene(model)
        self.notes = [SOFT] if scene.world.shapes else []
        return TreeWorlds(model, self.config, FRAMES, {"mjcf": scene.mjcf(dt), **scene.joints()}, scene.numbers)
