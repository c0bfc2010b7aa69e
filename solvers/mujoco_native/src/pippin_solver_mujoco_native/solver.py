"""MuJoCo's own C engine on all cores of the CPU: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import warp as wp
from pippin.devices import kind_of
from pippin.solving import RIGID_TREES, ContactSource, slippery_shapes

from . import MuJoCoNativeConfig
from .contacts import room_for
from .engine import MuJoCoBatch
from .remote import left_out
from .slippery import LEAST_FRICTION, can_throw

__all__ = ["SolverMuJoCoNative"]

_OPTIONS = {"noslip_iterations": 0, "constraint_solver": -1}
"""Options of a file that Newton does not keep, since MuJoCo Warp lacks them, and what stands for one that is left out.
"""


class SolverMuJoCoNative:
    """MuJoCo's worlds, stepped on threads outside Warp, from the same model that `mujoco` steps on Warp."""

    coordinates = "joint"
    detects_contacts = True
    supported_features = RIGID_TREES | {
        "armature": "live",
        "asset_actuators": "live",
        "ball_limits": "live",
        "ball_stiffness": "live",
        "contact_stiffness": "live",
        "effort_limits": "live",
        "equality_constraints": "live",
        "free_damping": "live",
        "free_joint_forces": "live",
        "gravity_compensation": "live",
        "inactive_equalities": "live",
        "joint_damping": "live",
        "joint_friction": "live",
        "joint_stiffness": "live",
        "light_links": "live",
        "limit_stiffness": "live",
        "loop_joints": "live",
        "massless_bodies": "live",
        "mimic_constraints": "live",
        "mimic_joints": "live",
        "mujoco_tendons": "live",
        "rolling_friction": "live",
        "torsional_friction": "live",
    }
    engine_memory = "shared"
    is_capturable = False
    features_fixed_at_build = frozenset({"joint_drives", "joint_limits"})
    supported_observables = MuJoCoBatch.SUPPORTED_OBSERVABLES

    def __init__(self, config: MuJoCoNativeConfig) -> None:
        self.config = config
        self.notes: list[str] = []
        self._solver: MuJoCoBatch | None = None

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register MuJoCo's attributes, which importers fill from the assets, and set MuJoCo's default gap."""
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        builder.rigid_gap = 0.0  # with Newton's 0.1 m, MuJoCo's convex collision finds wrong depths and normals
        for name, unstated in _OPTIONS.items():
            builder.add_custom_attribute(
                newton.ModelBuilder.CustomAttribute(
                    name=name,
                    namespace="pippin",
                    frequency=newton.Model.AttributeFrequency.ONCE,
                    dtype=int,
                    default=unstated,
                    mjcf_attribute_name=name,
                )
            )

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Yield the faults of a model that is not on the CPU, or has kinematic bodies."""
        if kind_of(model.device) != "cpu":
            yield (
                f"type: 'mujoco-native' runs on the CPU, the model is on {model.device.alias};"
                " set simulation.device = \"cpu\", or use 'mujoco'"
            )
        flags = [] if model.body_flags is None else model.body_flags.numpy()
        for label, flag in zip(model.body_label, flags, strict=False):
            if flag & newton.BodyFlags.KINEMATIC:
                yield f"type: 'mujoco-native' has no kinematic bodies such as {label!r}; use 'mujoco'"
                break
        if can_throw(model, self.config):
            faults, self.notes = slippery_shapes(model, LEAST_FRICTION)
            yield from faults

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float) -> MuJoCoBatch:
        """Return MuJoCo's worlds."""
        options = attrs.asdict(self.config)
        threads = options.pop("threads")
        for name in ("nconmax", "environment", "timeout"):
            del options[name]
        options |= {"disable_sensors": True, "kinematic_switchable_roots": False, "enable_sleeping": False}
        elsewhere = self.config if self.config.environment else None
        self._solver = MuJoCoBatch(model, options, dt, threads or 0, elsewhere)
        if self._solver.remote is not None:
            self.notes += left_out(self._solver.remote)
        return self._solver

    @pippin.hookimpl
    def initialize_contacts(self, model: newton.Model) -> ContactSource:
        """Return the buffer to which MuJoCo's contacts are copied if something asks for their forces."""
        contacts = newton.Contacts(room_for(model, self.config.nconmax), 0, device=model.device)
        return ContactSource(contacts=contacts, filled_with="contact_f")

    @pippin.hookimpl
    def notify_model_changed(self, solver: MuJoCoBatch, flags: int, changed_worlds: wp.array[wp.bool]) -> None:
        """Take over changes of the model in the changed worlds; the others continue bit for bit."""
        solver.notify_model_changed(flags, changed_worlds)

    @pippin.hookimpl
    def step_solver(
        self,
        solver: MuJoCoBatch,
        state_in: newton.State,
        state_out: newton.State,
        control: newton.Control,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
        substep_count: int,
        written_worlds: wp.array[wp.bool],
    ) -> None:
        """Take all substeps in one call, and write only the last state."""
        solver.step(
            state_in,
            state_out,
            control,
            contacts,
            dt,
            observables=observables,
            substep_count=substep_count,
            written_worlds=written_worlds,
        )

    @pippin.hookimpl(optionalhook=True)
    def roll_out_solver(
        self,
        solver: MuJoCoBatch,
        state: newton.State,
        control: newton.Control,
        dt: float,
        substep_count: int,
        count: int,
        set_inputs: Callable[[], None],
        worlds: np.ndarray,
    ) -> Any:
        """Take control steps whose inputs are known in one call, as a fit does that plays logs."""
        return solver.roll_out(state, control, dt, substep_count, count, set_inputs, worlds)

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Declare MuJoCo's state of every world, with the warm start, as the state that steps carry on."""
        solver: Any = simulation.solver
        self.state_arrays = solver.state_arrays

    @pippin.hookimpl
    def close(self) -> None:
        """End the process of another environment."""
        if self._solver is not None:
            self._solver.close()
