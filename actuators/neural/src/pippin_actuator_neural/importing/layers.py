"""Layers of a network, in the order and with the weights of torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs
import numpy as np
from pippin import ConfigError

__all__ = ["ACTIVATIONS", "Activation", "Layer", "Linear", "Recurrent", "kind_of"]

ACTIVATIONS = ("Elu", "Gelu", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh")
"""Activations by the name of their ONNX operator."""


@attrs.frozen(kw_only=True, eq=False)
class Linear:
    """A linear layer: weight of shape [outputs, inputs], bias of shape [outputs]."""

    weight: np.ndarray
    bias: np.ndarray


@attrs.frozen(kw_only=True)
class Activation:
    """An activation: the name of its ONNX operator, and attributes."""

    name: str
    attributes: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True, eq=False)
class Recurrent:
    """An LSTM layer, gates i f g o, or a GRU layer, gates r z n.

    The weights have the shapes [gates × cells, inputs] and [gates × cells, cells], the biases [gates × cells].
    """

    kind: Literal["lstm", "gru"]
    weight_ih: np.ndarray
    weight_hh: np.ndarray
    bias_ih: np.ndarray
    bias_hh: np.ndarray

    @property
    def cells(self) -> int:
        """The number of cells."""
        return int(self.weight_hh.shape[1])


Layer = Linear | Activation | Recurrent


def kind_of(layers: list[Layer], source: str) -> Literal["mlp", "lstm", "gru"]:
    """Return the kind of a network.

    Raises:
        ConfigError: The actuator runs no network of these layers in this order.
    """
    recurrent = [layer for layer in layers if isinstance(layer, Recurrent)]
    linear = [layer for layer in layers if isinstance(layer, Linear)]
    if layers[: len(recurrent)] != recurrent or len({layer.kind for layer in recurrent}) > 1:
        raise ConfigError(f"{source}: the layers of one kind, lstm or gru, must come first; train such a network")
    if not linear:
        raise ConfigError(f"{source}: it has no linear layer, whose output would be the effort; train such a network")
    if linear[-1].weight.shape[0] != 1:
        outputs = linear[-1].weight.shape[0]
        raise ConfigError(f"{source}: its last linear layer has {outputs} outputs, expected 1, the effort of a joint")
    if not recurrent:
        return "mlp"
    kind = recurrent[0].kind
    if kind == "gru" and len(layers) > len(recurrent) + 1:
        raise ConfigError(f"{source}: after the layers of a gru, Newton runs one linear layer; train such a network")
    return kind
