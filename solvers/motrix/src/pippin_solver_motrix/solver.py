"""MotrixSim as a solver: the part that knows Newton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import newton
import numpy as np
from pippin.solving import EngineFrames
from pippin_engines import EngineSolver, TreeWorlds

from . import MotrixConfig
from .scene import ALIKE, Scene

__all__ = ["SolverMotrix"]

FRAMES = EngineFrames(pose="body", point="origin", angular_axes="inner")
"""A free joint of MotrixSim: the pose of its body in the world, and the velocity of its origin; its spin is its own."""

LIVE = ("armature", "gravity", "joint_drives", "joint_friction", "rigid_bodies")
BUILT = (
    *("carried_sliders", "effort_limits", "fixed_joints", "free_joints", "joint_damping", "joint_limits"),
    *("joint_stiffness", "prismatic_joints", "revolute_joints", "rigid_contacts"),
)
"""Features that each world may change, and those that are read once."""


SOFT = (
    "contacts and limits yield by MotrixSim's law, by up to a fifth more than MuJoCo's, and corners of meshes are off"
)
"""What a run of shapes is told."""


class MotrixWorlds(TreeWorlds):
    """All worlds of a model in one batch.

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
        dt: The substep [s].
    """

    def __init__(self, model: newton.Model, config: MotrixConfig, dt: float) -> None:
        self._scene = scene = Scene(model)
        arguments = {"mjcf": scene.mjcf(dt), "joints": scene.joints, "numbers": scene.numbers(), **scene.holders()}
        super().__init__(model, config, FRAMES, arguments, drives=len(scene.axes))

    def fill(self, control: newton.Control) -> None:
        """Write the parts of the drives' efforts that do not depend on the joints."""
        of = self._scene.of_axes
        drives = of("target_ke") * of("target_q", control) + of("target_kd") * of("target_qd", control)
        self.engine.arrays["drives"][:] = drives

    def take_over(self, flags: int, worlds: np.ndarray) -> None:
        """Give the worlds the numbers of the model; those that did not change stay."""
        self.engine.call("change", **self._scene.numbers())


class SolverMotrix(EngineSolver):
    """The plugin: the solver of `[solver]` with `type = "motrix"`."""

    supported_features: Mapping[str, str] = dict.fromkeys(LIVE, "live") | dict.fromkeys(BUILT, "build")
    arrays_alike = ALIKE

    def faults(self, model: newton.Model) -> Iterator[str]:
        """Yield which shapes MotrixSim, or this wrapper, does not have."""
        yield from Scene(model).faults()

    def make_worlds(self, model: newton.Model, dt: float) -> MotrixWorlds:
        """Return the worlds."""
        self.notes = [SOFT] if len(Scene(model).shapes) else []
        return MotrixWorlds(model, self.config, dt)
