"""Pinocchio as a solver: free motion of robots of hinges, sliders and free bodies, in double precision."""

from collections.abc import Mapping

import pippin
from pippin.solving import ContactSource

from . import PinocchioConfig
from .engine import PinocchioEngine


class SolverPinocchio:
    """The component: it builds the engine, and tells it which worlds to read."""

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
    supported_observables = frozenset()
    detects_contacts = True
    engine_memory = "shared"
    is_capturable = False
    eager_reason = "Pinocchio runs on the host"

    def __init__(self, config: PinocchioConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def check_model(self, model):
        """Refuse a GPU."""
        if not model.device.is_cpu:
            yield f"type: 'pinocchio' runs on the CPU, the model is on {model.device}; set simulation.device = \"cpu\""

    @pippin.hookimpl
    def build_solver(self, model):
        """Return the engine of all worlds."""
        return PinocchioEngine(model)

    @pippin.hookimpl
    def initialize_contacts(self):
        """Return a source without contacts."""
        return ContactSource()

    @pippin.hookimpl
    def bind(self, simulation):
        """Declare the engine's own coordinates as the state that steps carry on."""
        self.state_arrays = simulation.solver.state_arrays

    @pippin.hookimpl
    def step_solver(self, solver, state_in, state_out, control, dt, substep_count, written_worlds):
        """Read the worlds that something else wrote, take all substeps, and write the joints."""
        solver.joints.read(state_in, written_worlds.numpy(), solver.q, solver.v)
        for _ in range(substep_count):
            solver.advance(state_in.body_f, control, dt)
        solver.joints.write(solver.q, solver.v, state_out)
