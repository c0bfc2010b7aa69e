"""Free rigid bodies that fall and tumble, as a Pippin solver. Imports neither Warp nor Newton."""

import attrs
import pippin
from attrs.validators import ge


@attrs.frozen(kw_only=True)
class DemoConfig:
    """Symplectic Euler for free rigid bodies: first new velocities, then new poses from the new velocities."""

    damping: float = attrs.field(default=0.0, validator=ge(0.0))
    """Rate at which velocities decay [1/s]."""


class SolverDemo:
    """The plugin: the solver of `[solver]` with `type = "demo"`."""

    Config = DemoConfig
    coordinates = "maximal"  # the solver writes bodies; Pippin computes joint coordinates from them
    supported_features = frozenset({"rigid_bodies", "free_joints", "heterogeneous_worlds"})
    supported_model_changes = frozenset({"MODEL_PROPERTIES", "BODY_PROPERTIES", "BODY_INERTIAL_PROPERTIES"})
    supported_observables = frozenset()

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def build_solver(self, model):
        """Return the solver of a model."""
        from .solver import SymplecticEuler

        return SymplecticEuler(model, damping=self.config.damping)
