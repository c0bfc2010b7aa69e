"""A solver of hinges and sliders with springs to their zero, whose engine can also fail in each way that is known."""

from collections.abc import Mapping

import attrs
import newton
import numpy as np
import pippin
from pippin.solving import ContactSource, JointMap
from pippin_engines import EngineSource, RunningEngine, start_engine


@attrs.frozen(kw_only=True)
class SpringsConfig:
    """Springs."""

    implementation = "SolverSprings"
    engine = EngineSource(file="springs_engine.py", licence="Apache-2.0", megabytes=1)

    environment: pippin.FilePath | None = None
    """The Python environment."""

    timeout: float = 30.0
    """Longest time for an answer [s]."""

    fails: str = ""
    """How it fails in the third step, or in its start."""


class Springs(newton.solvers.SolverBase):
    """The host's end of the engine."""

    def __init__(self, model, config):
        super().__init__(model)
        self.joints = JointMap(model)
        worlds = model.world_count
        shapes = dict.fromkeys(("q", "v", "efforts"), ((worlds, self.joints.qd_start[-1]), float))
        self.engine: RunningEngine = start_engine(config, {"dt": 0.002, "fails": config.fails}, shapes)


class SolverSprings:
    """The component."""

    coordinates = "joint"
    supported_features: Mapping[str, str] = {
        "rigid_bodies": "live",
        "prismatic_joints": "build",
        "revolute_joints": "build",
    }
    is_capturable = False
    eager_reason = "the engine runs on the host"
    detects_contacts = True

    def __init__(self, config):
        self.config, self.solver = config, None

    @pippin.hookimpl
    def build_solver(self, model):
        self.solver = Springs(model, self.config)
        return self.solver

    @pippin.hookimpl
    def initialize_contacts(self):
        return ContactSource()

    @pippin.hookimpl
    def step_solver(self, solver, state_in, state_out, control, substep_count, written_worlds):
        arrays, joints = solver.engine.arrays, solver.joints
        joints.read(state_in, written_worlds.numpy(), arrays["q"], arrays["v"])
        arrays["efforts"][:] = joints.efforts(control, arrays["q"])
        solver.engine.step(substep_count)
        joints.write(np.asarray(arrays["q"]), arrays["v"], state_out)

    @pippin.hookimpl
    def close(self):
        if self.solver is not None:
            self.solver.engine.close()
