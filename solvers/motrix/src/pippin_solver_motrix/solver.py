"""MotrixSim as a solver: the part that knows Newton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import newton
import numpy as np
import pippin
import warp as wp
from pippin.devices import kind_of
from pippin.solving import ContactSource, EngineFrames, JointMap
from pippin_engines import RunningEngine, start_engine

from . import MotrixConfig
from .scene import Scene

__all__ = ["SolverMotrix"]

FRAMES = EngineFrames(pose="body", point="origin", angular_axes="inner")
"""A free joint of MotrixSim: the pose of its body in the world, and the velocity of its origin; its spin is its own."""


class MotrixWorlds(newton.solvers.SolverBase):
    """All worlds of a model in one batch.

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
        dt: The substep [s].
    """

    def __init__(self, model: newton.Model, config: MotrixConfig, dt: float) -> None:
        super().__init__(model)
        self.scene, self.joints, worlds = Scene(model), JointMap(model, FRAMES), model.world_count
        scene = self.scene
        shapes = {
            "q": (worlds, self.joints.q_start[-1]),
            "v": (worlds, self.joints.qd_start[-1]),
            "controls": (worlds, 2 * len(scene.axes)),
            "wrenches": (worlds, scene.body_count, 6),
            "gravity": (worlds, 3),
        }
        arguments = {
            "mjcf": scene.mjcf(dt),
            "joints": [[f"j{row}", kind] for row, kind in enumerate(scene.kinds)],
            "carriers": scene.carriers,
            "anchors": scene.anchors(),
            "numbers": scene.numbers(),
            "iterations": config.iterations,
            "tolerance": config.tolerance,
        }
        self._free = [(scene.children[row], scene.joints("qd_start")[row]) for row in scene.free]
        #: MotrixSim.
        self.engine: RunningEngine = start_engine(
            config, arguments, {name: (shape, float) for name, shape in shapes.items()}
        )

    def advance(
        self, state_in: newton.State, state_out: newton.State, control: newton.Control, worlds: np.ndarray, count: int
    ) -> None:
        """Read the worlds that something else wrote, take substeps, and write the joints."""
        arrays, scene = self.engine.arrays, self.scene
        self.joints.read(state_in, worlds, arrays["q"], arrays["v"])
        arrays["wrenches"].flat = state_in.body_f.numpy()
        efforts = control.joint_f.numpy().reshape(self.model.world_count, -1)
        for body, dof in self._free:
            arrays["wrenches"][:, body] += efforts[:, dof : dof + 6]
        drives = scene.of_axes("target_ke") * scene.of_axes("target_q", control)
        drives += scene.of_axes("target_kd") * scene.of_axes("target_qd", control)
        arrays["controls"][:] = np.hstack([efforts[:, scene.dofs], drives])
        arrays["gravity"][:] = self.model.gravity.numpy()[: self.model.world_count]
        self.engine.step(count)
        self.joints.write(arrays["q"], arrays["v"], state_out)


class SolverMotrix:
    """The plugin: the solver of `[solver]` with `type = "motrix"`."""

    coordinates = "joint"
    supported_features: Mapping[str, str] = {
        "armature": "live",
        "carried_sliders": "build",
        "effort_limits": "build",
        "fixed_joints": "build",
        "free_joints": "build",
        "gravity": "live",
        "joint_damping": "build",
        "joint_drives": "live",
        "joint_friction": "live",
        "joint_limits": "build",
        "joint_stiffness": "build",
        "prismatic_joints": "build",
        "revolute_joints": "build",
        "rigid_bodies": "live",
        "rigid_contacts": "build",
    }
    supported_observables: frozenset[str] = frozenset()
    detects_contacts = True
    engine_memory = "shared"
    is_capturable = False
    eager_reason = "MotrixSim runs on the host"

    def __init__(self, config: MotrixConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Yield why MotrixSim, or this wrapper, cannot simulate a model."""
        if kind_of(model.device) != "cpu":
            yield f"type: 'motrix' runs on the CPU, the model is on {model.device}; set simulation.device = \"cpu\""
        yield from Scene(model).faults()

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float) -> MotrixWorlds:
        """Return the worlds."""
        self._worlds = MotrixWorlds(model, self.config, dt)
        return self._worlds

    @pippin.hookimpl
    def initialize_contacts(self) -> ContactSource:
        """Return a source without contacts: MotrixSim finds its own."""
        return ContactSource()

    def state_arrays(self) -> dict[str, wp.array]:
        """Return the coordinates and velocities, which the engine reads in each step."""
        arrays = self._worlds.engine.arrays
        return {name: wp.array(arrays[name], device="cpu", copy=False) for name in ("q", "v")}

    @pippin.hookimpl
    def notify_model_changed(self, solver: MotrixWorlds) -> None:
        """Give the worlds the numbers of the model; those that did not change stay."""
        solver.engine.call("change", **solver.scene.numbers())

    @pippin.hookimpl
    def step_solver(
        self,
        solver: MotrixWorlds,
        state_in: newton.State,
        state_out: newton.State,
        control: newton.Control,
        substep_count: int,
        written_worlds: wp.array[wp.bool],
    ) -> None:
        """Take all substeps in one call."""
        solver.advance(state_in, state_out, control, written_worlds.numpy(), substep_count)

    @pippin.hookimpl
    def close(self) -> None:
        """End the engine."""
        self._worlds.engine.close()
