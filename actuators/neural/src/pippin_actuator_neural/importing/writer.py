"""ONNX file that the actuator runs, of the layers of a network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .layers import Activation, Layer, Linear, Recurrent, kind_of

__all__ = ["write_onnx"]

_GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2)}
"""Places of ONNX's gates in torch."""


class _Graph:
    """Nodes, weights, inputs and outputs of a file that grows."""

    def __init__(self) -> None:
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def weight(self, name: str, values: np.ndarray) -> str:
        array = np.ascontiguousarray(values, dtype=np.int64 if values.dtype.kind == "i" else np.float32)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, outputs, **attributes))
        return outputs[0]


def write_onnx(path: Path, layers: list[Layer], source: str, metadata: Mapping[str, Any]) -> None:
    """Write a network.

    Args:
        path: The file.
        layers: The layers.
        source: Name of the checkpoint, for errors.
        metadata: Metadata besides those of the layers: scales, time step, columns.

    Raises:
        ConfigError: The actuator runs no network of these layers.
    """
    graph, kind = _Graph(), kind_of(layers, source)
    recurrent = [layer for layer in layers if isinstance(layer, Recurrent)]
    first = next(layer for layer in layers if not isinstance(layer, Activation))
    width = (first.weight if isinstance(first, Linear) else first.weight_ih).shape[1]
    graph.inputs.append(_value("state", [1, None, width] if recurrent else [None, width]))
    last = "state"
    for index, layer in enumerate(recurrent):
        last = _add_recurrent(graph, layer, index, last)
    if recurrent:
        for axis in (1, 0):  # [1, 1, N, cells]: one step, one direction
            axes = graph.weight(f"axis_{axis}", np.array([axis]))
            last = graph.node("Squeeze", [last, axes], [f"without_{axis}"])
    for index, layer in enumerate(layers[len(recurrent) :]):
        last = _add_plain(graph, layer, index, last)
    graph.node("Identity", [last], ["effort"])
    graph.outputs.insert(0, _value("effort", [None, 1]))
    network = helper.make_graph(graph.nodes, "actuator", graph.inputs, graph.outputs, graph.weights)
    model = helper.make_model(network, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    known = {"model_type": kind, **dict(_names(kind, recurrent)), **metadata}
    helper.set_model_props(model, {"metadata": json.dumps(known)})
    onnx.save(model, str(path))


def _names(kind: str, recurrent: list[Recurrent]) -> Iterator[tuple[str, Any]]:
    """Yield the metadata of an lstm."""
    if kind != "lstm":
        return
    yield from {"num_layers": len(recurrent), "hidden_size": recurrent[0].cells}.items()
    yield from {"input_name": "state", "output_name": "effort"}.items()
    for state in ("hidden", "cell"):
        for key, prefix in ((f"{state}_in_name", state), (f"{state}_out_name", f"{state}_next")):
            names = [f"{prefix}_{index}" for index in range(len(recurrent))]
            yield key, names[0] if len(names) == 1 else names


def _add_recurrent(graph: _Graph, layer: Recurrent, index: int, last: str) -> str:
    """Add a layer with its states, and return the name of its output, shape [1, 1, N, cells]."""
    if index:  # of the layer before
        last = graph.node("Squeeze", [last, graph.weight(f"axis_of_{index}", np.array([1]))], [f"sequence_{index}"])
    weights = [
        graph.weight(f"w_{index}", _gates(layer, layer.weight_ih)[None]),
        graph.weight(f"r_{index}", _gates(layer, layer.weight_hh)[None]),
        graph.weight(f"b_{index}", np.concatenate([_gates(layer, layer.bias_ih), _gates(layer, layer.bias_hh)])[None]),
    ]
    states = ["hidden", "cell"] if layer.kind == "lstm" else ["hidden"]
    attributes = {} if layer.kind == "lstm" else {"linear_before_reset": 1}
    before, after = ([f"{state}_{index}" for state in states], [f"{state}_next_{index}" for state in states])
    graph.inputs += [_value(name, [1, None, layer.cells]) for name in before]
    graph.outputs += [_value(name, [1, None, layer.cells]) for name in after]
    inputs, outputs = [last, *weights, "", *before], [f"layer_{index}", *after]
    return graph.node(layer.kind.upper(), inputs, outputs, hidden_size=layer.cells, **attributes)


def _add_plain(graph: _Graph, layer: Layer, index: int, last: str) -> str:
    if isinstance(layer, Activation):
        return graph.node(layer.name, [last], [f"value_{index}"], **layer.attributes)
    assert isinstance(layer, Linear)
    weights = [graph.weight(f"weight_{index}", layer.weight), graph.weight(f"bias_{index}", layer.bias)]
    return graph.node("Gemm", [last, *weights], [f"value_{index}"], transB=1)


def _gates(layer: Recurrent, values: np.ndarray) -> np.ndarray:
    """Return weights or biases with their gates in the order of ONNX."""
    gates = np.split(values, len(_GATES[layer.kind]))
    return np.concatenate([gates[place] for place in _GATES[layer.kind]])


def _value(name: str, shape: list[int | None]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
