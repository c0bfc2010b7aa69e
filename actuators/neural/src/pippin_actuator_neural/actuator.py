"""Joint efforts from a trained network, as a Pippin actuator."""

from __future__ import annotations

from newton.actuators import DriveBase
from pippin import ConfigError, find_file
from pippin.actuation import DriveActuator, Lanes

from . import NeuralConfig
from .drives import build_drive
from .network import read_network

__all__ = ["ActuatorNeural"]


class ActuatorNeural(DriveActuator):
    """One network for all joints of the group, evaluated once per physics step on the state at its start."""

    config: NeuralConfig

    def build_drive(self, lanes: Lanes) -> DriveBase:
        """Return Newton's drive for the kind of network that the file holds.

        Raises:
            ConfigError: There is no such file, it holds no network that Newton runs, its metadata lacks something or
                does not fit the network, it was trained for another time step, or it has no implicit mode.
        """
        file = find_file(self.config.model_path, "model_path")
        self._network = read_network(file, lanes.dt)
        self._refuse_implicit_mode()
        # A write to a target that the network does not read would have no effect.
        reads = " and ".join(sorted(self._network.targets)) or "no targets"
        reason = f"network {str(self._network.file)!r} does not read it; it reads {reads}"
        names = ("position_targets", "velocity_targets", "feedforward")
        self.unread_targets = {name: reason for name in names if name not in self._network.targets}
        return build_drive(self._network)

    def _refuse_implicit_mode(self) -> None:
        reason = self._network.not_implicit
        if self.config.effort_mode == "implicit" and reason is not None:
            raise ConfigError(f"effort_mode: 'implicit' is not possible with this network, {reason}; use 'explicit'")
