"""Joint efforts from a trained network, as a Pippin actuator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from pippin import ConfigError, FilePath, find_file
from pippin.actuation import TARGETS, ActuatorConfig, DriveActuator, Lanes

from .network import read_network

if TYPE_CHECKING:
    from newton.actuators import DriveBase

__all__ = ["ActuatorNeural", "NeuralConfig"]


@attrs.frozen(kw_only=True)
class NeuralConfig(ActuatorConfig):
    """A network that maps the state and the targets of a joint to the joint's effort.

    The file's metadata gives the kind of the network (`model_type`: mlp, lstm or gru), its inputs and their units. The
    network replaces the law: gains and feedforward have no effect.
    """

    model: FilePath
    """An ONNX file with metadata."""


class ActuatorNeural(DriveActuator):
    """One network for all joints of the group, evaluated once per physics step on the state at its start."""

    Config = NeuralConfig
    config: NeuralConfig

    def build_drive(self, lanes: Lanes) -> DriveBase:
        """Return Newton's drive for the kind of network that the file holds.

        Raises:
            ConfigError: There is no such file, it holds no network that Newton runs, its metadata lacks something or
                does not fit the network, it was trained for another time step, or it has no implicit mode.
        """
        file = find_file(self.config.model, "model")
        self._network = read_network(file, lanes.dt)
        self._refuse_implicit_mode()
        # A write to a target that the network does not read would have no effect.
        reads = " and ".join(sorted(self._network.targets)) or "no targets"
        reason = f"network {str(self._network.file)!r} does not read it; it reads {reads}"
        self.unread_targets = {name: reason for name in TARGETS if name not in self._network.targets}
        from .drives import build_drive

        return build_drive(self._network)

    def _refuse_implicit_mode(self) -> None:
        reason = self._network.not_implicit
        if self.config.effort_mode == "implicit" and reason is not None:
            raise ConfigError(f"effort_mode: 'implicit' is not possible with this network, {reason}; use 'explicit'")
