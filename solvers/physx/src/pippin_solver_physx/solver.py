"""PhysX as a solver: the part that knows Newton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import newton
import numpy as np
import pippin
import warp as wp
from pippin.devices import kind_of
from pippin.solving import ContactSource, EngineFrames, JointMap
from pippin_engines import start_engine

from . import PhysXConfig
from .stage import ALIKE, Stage

__all__ = ["SolverPhysX"]

FRAMES = EngineFrames(pose="body")
"""A free joint of PhysX: the pose of its body in the world, and the velocity of its centre of mass."""

LIVE = ("armature", "gravity", "joint_damping", "joint_drives", "joint_friction", "effort_limits", "rigid_bodies")
BUILT = (
    *("carried_sliders", "fixed_joints", "free_joints", "joint_limits"),
    *("prismatic_joints", "revolute_joints", "rigid_contacts", "restitution"),
)
"""Features that each world may change, and those that are read once."""


class PhysXWorlds(newton.solvers.SolverBase):
    """All worlds of a model in PhysX.

    Args:
        model: Newton's model, on the CPU.
        config: The settings.
        dt: The substep [s].
    """

    def __init__(self, model: newton.Model, config: PhysXConfig, dt: float) -> None:
        super().__init__(model)
        self.stage = Stage(model, (config.position_iterations, config.velocity_iterations))
        self.joints, worlds = JointMap(model, FRAMES), model.world_count
        columns = {"q": self.joints.q_start[-1], "v": self.joints.qd_start[-1]}
        columns |= {"target_q": columns["q"], "target_v": columns["v"], "efforts": columns["v"], "gravity": 3}
        arrays = {name: ((worlds, count), float) for name, count in columns.items()}
        arrays |= {"wrenches": ((worlds, self.stage.body_count, 6), float), "written": ((worlds,), bool)}
        arguments = {name: getattr(self.stage, name)() for name in ("usd", "trees", "numbers")}
        arguments |= {"gravity": self.stage.gravity, "dt": dt, "threads": config.threads}
        #: PhysX.
        self.engine = start_engine(config, arguments, arrays)

    def advance(
        self, state_in: newton.State, state_out: newton.State, control: newton.Control, written: np.ndarray, count: int
    ) -> None:
        """Read the worlds that something else wrote, take substeps, and write the joints."""
        arrays, worlds = self.engine.arrays, self.model.world_count
        self.joints.read(state_in, written, arrays["q"], arrays["v"])
        arrays["written"][:] = written[:worlds]
        own = {"efforts": "joint_f", "target_q": "joint_target_q", "target_v": "joint_target_qd"}
        for name, of_control in own.items():
            arrays[name].flat = getattr(control, of_control).numpy()
        arrays["wrenches"].flat = state_in.body_f.numpy()
        for body, dof in self.stage.free:
            arrays["wrenches"][:, body] += arrays["efforts"][:, dof : dof + 6]
        arrays["gravity"][:] = self.stage.gravity
        self.engine.step(count)
        self.joints.write(np.asarray(arrays["q"]), arrays["v"], state_out)


class SolverPhysX:
    """The plugin: the solver of `[solver]` with `type = "physx"`."""

    coordinates = "joint"
    supported_features: Mapping[str, str] = dict.fromkeys(LIVE, "live") | dict.fromkeys(BUILT, "build")
    supported_observables: frozenset[str] = frozenset()
    engine_memory = "own"
    is_capturable = False
    eager_reason = "PhysX runs on the host"
    detects_contacts = True

    def __init__(self, config: PhysXConfig) -> None:
        self.config = config
        self._worlds: PhysXWorlds | None = None

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Refuse what PhysX, or this wrapper, does not have."""
        if kind_of(model.device) != "cpu":
            yield f"type: 'physx' runs on the CPU, the model is on {model.device}; set simulation.device = \"cpu\""
            return
        loose = np.setdiff1d(np.arange(model.body_count), model.joint_child.numpy())
        if len(loose):
            yield f"type: body {model.body_label[loose[0]]!r} has no joint; give it a free one"
        for name in ALIKE if model.world_count > 1 else ():
            rows = getattr(model, name).numpy()
            rows = rows[model.shape_world.numpy() >= 0] if name.startswith("shape_") else rows
            worlds = rows.reshape(model.world_count, -1)
            if (worlds != worlds[:1]).any():
                yield f"type: {name} differs between worlds, and PhysX has one stage for all; let it be equal"
        yield from Stage(model).faults()

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float) -> PhysXWorlds:
        """Return the worlds."""
        self._worlds = PhysXWorlds(model, self.config, dt)
        return self._worlds

    @pippin.hookimpl
    def initialize_contacts(self) -> ContactSource:
        """Return a source without contacts: PhysX has its own."""
        return ContactSource()

    @pippin.hookimpl
    def notify_model_changed(self, solver: PhysXWorlds) -> None:
        """Give PhysX the numbers of the model; those that did not change stay."""
        solver.engine.call("change", **solver.stage.numbers())

    @pippin.hookimpl
    def step_solver(
        self,
        solver: PhysXWorlds,
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
        """End PhysX."""
        if self._worlds is not None:
            self._worlds.engine.close()
