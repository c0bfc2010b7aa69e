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
    """A network that maps what a joint does and should do to the joint's effort.

    The file's metadata says which kind of network it is (`model_type`: mlp, lstm or gru), what it reads and in which
    units. It replaces the law: neither gains nor feedforward act beside it.
    """

    model: FilePath
    """An ONNX file, with its metadata."""


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
        # A target that no network reads would wait in vain for an effect.
        reads = " and ".join(sorted(self._network.targets)) or "no targets"
        reason = f"network {str(self._network.file)!r} does not read it; it reads {reads}"
        self.unread_targets = {name: reason for name in TARGETS if name not in self._network.targets}
        from .drives import build_drive

        return build_drive(self._network)

    def _refuse_implicit_mode(self) -> None:
        reason = self._network.not_implicit
        if self.config.effort_mode == "implicit" and reason is not None:
            raise ConfigError(f"effort_mode: 'implicit' is not possible with this network, {reason}; use 'explicit'")
