"""Policies as ONNX files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.extras import import_library

_OPERATORS = {"elu": "Elu", "relu": "Relu", "tanh": "Tanh"}

_GATES = {"GRU": (1, 0, 2), "LSTM": (0, 3, 1, 2)}
"""Numbers of PyTorch's gates in the order of ONNX: update, reset, new; and input, output, forget, cell."""

Pairs = Sequence[tuple[np.ndarray, np.ndarray]]


@attrs.frozen(kw_only=True, eq=False)
class RecurrentLayer:
    """A recurrent layer, with the arrays of PyTorch's layer."""

    kind: str
    """Operator: "GRU" or "LSTM"."""

    weights: tuple[np.ndarray, np.ndarray]
    """Of the input, shape [gates · units, inputs], and of the hidden state, shape [gates · units, units]."""

    biases: tuple[np.ndarray, np.ndarray]
    """Likewise, shape [gates · units]."""

    @property
    def units(self) -> int:
        """Numbers of the hidden state."""
        return self.weights[1].shape[1]


def write_policy(
    path: str | os.PathLike[str],
    layers: Pairs,
    activation: str,
    *,
    mean: np.ndarray | None = None,
    std: np.ndarray | None = None,
    limit: float | None = None,
    bounds: tuple[np.ndarray, np.ndarray] | None = None,
    recurrent: Sequence[RecurrentLayer] = (),
) -> None:
    """Write a network of dense layers as an ONNX file, for `pippin play` and other programs. PyTorch is not needed.

    With recurrent layers, its first input are the observations, and the others the states of the layers, shape
    [1, worlds, units] each, which are zero in a new episode; its outputs are the action and the next states.

    Args:
        path: The file.
        layers: Weights, shape [outputs, inputs], and biases of each layer.
        activation: Function of the hidden units: "elu", "relu" or "tanh".
        mean: Mean of each observation, which is subtracted; the first layer takes it in.
        std: Number that each observation is divided by, likewise.
        limit: Size at which normalised observations are clipped, if the trainer does so.
        bounds: Lowest and highest actions, which the hyperbolic tangent of the last layer spreads between, if it does.
        recurrent: Recurrent layers before the dense ones.

    Raises:
        PluginError: The extra `policy` is not installed.
    """
    graph = _Graph(import_library("onnx", "policy"))
    pairs: list[Any] = [tuple(np.asarray(array, dtype=np.float32) for array in pair) for pair in layers]
    width = recurrent[0].weights[0].shape[1] if recurrent else pairs[0][0].shape[1]
    name = graph.input("observations", "worlds", width)
    graph.output("action", "worlds", pairs[-1][0].shape[0])
    if mean is not None and std is not None:
        if limit is not None or recurrent:
            name = graph.normalised(name, mean, std, limit)
        else:
            scaled = pairs[0][0] / np.asarray(std, dtype=np.float32)
            pairs[0] = scaled, pairs[0][1] - scaled @ np.asarray(mean, dtype=np.float32)
    if recurrent:
        name = graph.remembered(name, recurrent)
    for index, pair in enumerate(pairs):
        is_last = index == len(pairs) - 1
        keys = [graph.constant(f"{key}_{index}", array) for key, array in zip(("weights", "bias"), pair, strict=True)]
        output = "action" if is_last and bounds is None else f"sum_{index}"
        name = graph.node("Gemm", [name, *keys], output, transB=1)
        if not is_last:
            name = graph.node(_OPERATORS[activation], [name], f"unit_{index}")
    if bounds is not None:
        low, high = (np.asarray(each, dtype=np.float32) for each in bounds)
        half = graph.node(
            "Mul", [graph.node("Tanh", [name], "bounded"), graph.constant("half", (high - low) / 2)], "way"
        )
        graph.node("Add", [half, graph.constant("middle", (high + low) / 2)], "action")
    graph.write(Path(path))


class _Graph:
    """The nodes, constants and ends of a file."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._arrays: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, *shape: int | str) -> str:
        self._inputs.append(self._end(name, shape))
        return name

    def output(self, name: str, *shape: int | str) -> None:
        self._outputs.append(self._end(name, shape))

    def _end(self, name: str, shape: Sequence[int | str]) -> Any:
        return self._onnx.helper.make_tensor_value_info(name, self._onnx.TensorProto.FLOAT, shape)

    def constant(self, name: str, values: Any, dtype: Any = np.float32) -> str:
        self._arrays.append(self._onnx.numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def node(self, operator: str, inputs: Sequence[str], *outputs: str, **attributes: Any) -> str:
        """Add a node; return the name of its first output."""
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, outputs, **attributes))
        return outputs[0]

    def normalised(self, name: str, mean: np.ndarray, std: np.ndarray, limit: float | None) -> str:
        centred = self.node("Sub", [name, self.constant("mean", mean)], "centred")
        normal = self.node("Div", [centred, self.constant("std", std)], "normal")
        if limit is None:
            return normal
        ends = [self.constant(key, end) for key, end in (("low", -limit), ("high", limit))]
        return self.node("Clip", [normal, *ends], "clipped")

    def remembered(self, name: str, layers: Sequence[RecurrentLayer]) -> str:
        """Add recurrent layers, each for one step of a sequence; return the name of the last hidden state."""
        time = self.constant("time", [0], np.int64)
        name = self.node("Unsqueeze", [name, time], "sequence")
        for index, layer in enumerate(layers):
            gates = np.array(_GATES[layer.kind])
            arrays = []
            for key, own in (("input", layer.weights[:1]), ("hidden", layer.weights[1:]), ("biases", layer.biases)):
                ordered = [each.reshape(len(gates), -1)[gates].reshape(each.shape) for each in own]
                arrays.append(self.constant(f"{key}_{index}", np.concatenate(ordered)[None]))
            label = f"_{index}" if len(layers) > 1 else ""
            states = ["h"] if layer.kind == "GRU" else ["h", "c"]
            before = [self.input(f"{state}_in{label}", 1, "worlds", layer.units) for state in states]
            after = [f"{state}_out{label}" for state in states]
            for state in after:
                self.output(state, 1, "worlds", layer.units)
            own = {"linear_before_reset": 1} if layer.kind == "GRU" else {}
            self.node(layer.kind, [name, *arrays, "", *before], "", *after, hidden_size=layer.units, **own)
            name = after[0]
        return self.node("Squeeze", [name, time], "memory")

    def write(self, path: Path) -> None:
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, "policy", self._inputs, self._outputs, self._arrays)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
        path.write_bytes(model.SerializeToString(deterministic=True))
