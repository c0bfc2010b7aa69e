"""Hinges, a relay and an energy meter whose arithmetic is C: plugins that leave Warp's graph, and say so."""

import pippin
from pippin import sensing
from pippin.actuation import DriveActuator

from .energy import Energies
from .hinges import SolverHinges
from .relay import DriveRelay

ON_HOST = "its arithmetic is C, on the CPU"


class Hinges:
    """A solver of pendulums, side by side."""

    is_capturable = False
    eager_reason = ON_HOST
    coordinates = "joint"
    supported_features = dict.fromkeys(("gravity", "rigid_bodies", "revolute_joints", "armature"), "build")
    supported_observables = frozenset()

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def build_solver(self, model):
        """Return the solver of a model."""
        return SolverHinges(model, damping=self.config.damping)


class Relay(DriveActuator):
    """Bang-bang control."""

    eager_reason = ON_HOST

    def build_drive(self, lanes):
        """Return the law, with one value per degree of freedom."""
        level = lanes.per_lane(self.config.level, "level", minimum=0.0)
        return DriveRelay(level, lanes.per_lane(self.config.width, "width", minimum=0.0))


class EnergyMeter(sensing.Sensor):
    """Mechanical energy of every world: outputs `kinetic` and `potential` [J], shape [worlds, 1]."""

    is_capturable = False
    eager_reason = ON_HOST

    def build_outputs(self, binding):
        """Return the energies of all worlds."""
        simulation = binding.simulation
        self._energies = Energies(simulation.model)
        return self._energies.outputs()

    def measure(self, state, contacts, observables, dt):
        """Add up the bodies of each world."""
        self._energies.measure(state)
