"""Hinges, a relay and an energy meter whose arithmetic is C: plugins that leave Warp's graph, and say so."""

import attrs
import pippin
from attrs.validators import ge
from pippin import sensing
from pippin.actuation import ActuatorConfig, DriveActuator, Parameter, parameter

ON_HOST = "its arithmetic is C, on the CPU"


@attrs.frozen(kw_only=True)
class HingesConfig:
    """Links that hang on one hinge each, moved by symplectic Euler in C. On the CPU only."""

    damping: float = attrs.field(default=0.0, validator=ge(0.0))
    """Viscous friction of every hinge [N·m·s]."""


class Hinges:
    """A solver of pendulums, side by side."""

    Config = HingesConfig
    is_capturable = False
    eager_reason = ON_HOST
    coordinates = "joint"
    supported_features = frozenset({"rigid_bodies", "revolute_joints", "armature"})
    supported_observables = frozenset()
    supported_model_changes = frozenset()

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def build_solver(self, model):
        """Return the solver of a model."""
        from .hinges import SolverHinges

        return SolverHinges(model, damping=self.config.damping)


@attrs.frozen(kw_only=True)
class RelayConfig(ActuatorConfig):
    """A relay: full effort one way or the other, and none close to the target."""

    level: Parameter = parameter(0.0)
    """Effort when it is on [N·m], for all joints or by pattern."""

    width: Parameter = parameter(0.0)
    """Error up to which it is off [rad], for all joints or by pattern."""


class Relay(DriveActuator):
    """Bang-bang control."""

    Config = RelayConfig
    eager_reason = ON_HOST

    def build_drive(self, lanes):
        """Return the law, with one value per degree of freedom."""
        from .relay import DriveRelay

        level = lanes.per_lane(self.config.level, "level", minimum=0.0)
        return DriveRelay(level, lanes.per_lane(self.config.width, "width", minimum=0.0))


class EnergyMeter(sensing.Sensor):
    """Mechanical energy of every world: outputs `kinetic` and `potential` [J], shape [worlds, 1]."""

    Config = sensing.SensorConfig
    is_capturable = False
    eager_reason = ON_HOST

    def build_outputs(self, binding):
        """Return the energies of all worlds."""
        from .energy import Energies

        simulation = binding.simulation
        self._energies = Energies(simulation.model)
        return self._energies.outputs()

    def measure(self, state, contacts, observables, dt):
        """Add up the bodies of each world."""
        self._energies.measure(state)
