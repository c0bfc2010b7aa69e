"""Joint efforts from a trained network, as a Pippin actuator."""

from __future__ import annotations

import attrs
from pippin import FilePath
from pippin.actuation import ActuatorConfig

__all__ = ["NeuralConfig"]


@attrs.frozen(kw_only=True)
class NeuralConfig(ActuatorConfig):
    """A network that maps the state and the targets of a joint to the joint's effort.

    The file's metadata gives the kind of the network (`model_type`: mlp, lstm or gru), its inputs and their units. The
    network replaces the law: gains and feedforward have no effect.
    """

    implementation = ".actuator:ActuatorNeural"

    model_path: FilePath
    """An ONNX file with metadata."""
