"""Pinocchio as a solver: free motion of robots of hinges, sliders and free bodies, in double precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from pippin.devices import kind_of
from pippin.solving import ContactSource, EngineFrames, JointMap
from pippin_engines import start_engine

from . import PinocchioConfig

__all__ = ["SolverPinocchio"]

FRAMES = EngineFrames(point="origin", linear_axes="inner", angular_axes="inner")
"""A free joint of Pinocchio: its pose in the parent's frame, and the velocity of its origin, in its own axes."""


def mechanism(model: newton.Model) -> dict[str, Any]:
    """Return the joints and bodies of the first world; all worlds hold the same."""
    rows, bodies = model.joint_count // model.world_count, model.body_count // model.world_count
    of_joints = {name: getattr(model, f"joint_{name}").numpy()[:rows] for name in ("type", "parent", "child")}
    sizes, starts = model.joint_dof_dim.numpy()[:rows].sum(1), model.joint_qd_start.numpy()
    axes = np.zeros((rows, 3))
    axes[sizes == 1] = model.joint_axis.numpy()[starts[:rows][sizes == 1]]
    of_bodies = {
        name: getattr(model, f"body_{name}").numpy()[:bodies].astype(float) for name in ("mass", "com", "inertia")
    }
    return {
        "kinds": [newton.JointType(kind).name for kind in of_joints["type"]],
        "parents": of_joints["parent"].tolist(),
        "children": of_joints["child"].tolist(),
        "outer": model.joint_X_p.numpy()[:rows].astype(float),
        "inner": model.joint_X_c.numpy()[:rows].astype(float),
        "axes": axes,
        "armature": model.joint_armature.numpy()[: starts[rows]].astype(float),
        **of_bodies,
    }


class PinocchioWorlds(newton.solvers.SolverBase):
    """All worlds of a model, stepped one after another.

    Newton's state has single precision. The engine goes on from its own coordinates, unless something else wrote the
    joints of a world.

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
        dt: The substep [s].
    """

    def __init__(self, model: newton.Model, config: PinocchioConfig, dt: float) -> None:
        super().__init__(model)
        self.joints, count = JointMap(model, FRAMES), model.world_count
        nq, nv = self.joints.q_start[-1], self.joints.qd_start[-1]
        shapes = {
            "q": (count, nq),
            "v": (count, nv),
            "efforts": (count, nv),
            "wrenches": (count, model.body_count // count, 6),
            "gravity": (count, 3),
        }
        #: Pinocchio.
        self.engine = start_engine(
            config, mechanism(model) | {"dt": dt}, {name: (shape, float) for name, shape in shapes.items()}
        )

    def advance(
        self, state_in: newton.State, state_out: newton.State, control: newton.Control, worlds: np.ndarray, count: int
    ) -> None:
        """Read the worlds that something else wrote, take substeps, and write the joints."""
        arrays = self.engine.arrays
        self.joints.read(state_in, worlds, arrays["q"], arrays["v"])
        arrays["efforts"].flat, arrays["wrenches"].flat = control.joint_f.numpy(), state_in.body_f.numpy()
        arrays["gravity"][:] = self.model.gravity.numpy()[: self.model.world_count]
        self.engine.step(count)
        self.joints.write(arrays["q"], arrays["v"], state_out)


class SolverPinocchio:
    """The component: it builds the worlds, and tells them which to read."""

    coordinates = "joint"
    supported_features: Mapping[str, str] = {
        "armature": "build",
        "fixed_joints": "build",
        "free_joints": "build",
        "gravity": "live",
        "light_links": "build",
        "massless_bodies": "build",
        "prismatic_joints": "build",
        "revolute_joints": "build",
        "rigid_bodies": "build",
    }
    supported_observables: frozenset[str] = frozenset()
    detects_contacts = True
    engine_memory = "shared"
    is_capturable = False
    eager_reason = "Pinocchio runs on the host"

    def __init__(self, config: PinocchioConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Refuse a GPU."""
        if kind_of(model.device) != "cpu":
            yield f"type: 'pinocchio' runs on the CPU, the model is on {model.device}; set simulation.device = \"cpu\""

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float) -> PinocchioWorlds:
        """Return the worlds."""
        self._worlds = PinocchioWorlds(model, self.config, dt)
        return self._worlds

    @pippin.hookimpl
    def initialize_contacts(self) -> ContactSource:
        """Return a source without contacts."""
        return ContactSource()

    def state_arrays(self) -> dict[str, wp.array]:
        """Return the engine's coordinates and velocities, in its own memory."""
        arrays = self._worlds.engine.arrays
        return {name: wp.array(arrays[name], device="cpu", copy=False) for name in ("q", "v")}

    @pippin.hookimpl
    def step_solver(
        self,
        solver: PinocchioWorlds,
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
