"""Layers of an ONNX file as a training program exports it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from pippin import ConfigError

from .from_torch import Evaluate
from .layers import ACTIVATIONS, Activation, Layer, Linear, Recurrent

__all__ = ["read_onnx"]

_GLUE = {"Cast", "Concat", "Constant", "ConstantOfShape", "Expand", "Flatten", "Gather", "Identity", "Reshape"}
_GLUE |= {"Shape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"}
"""Operators that only arrange values. The comparison of results shows that nothing else happens in them."""

_GATES = {"lstm": (0, 2, 3, 1), "gru": (1, 0, 2)}
"""Places of torch's gates in ONNX."""


def read_onnx(file: Path) -> tuple[list[Layer], Evaluate]:
    """Return the layers of a file, and what evaluates it.

    Raises:
        ConfigError: The file is not valid ONNX, or has an operator that is not a layer of the actuator's networks.
    """
    try:
        model = onnx.load(str(file))
        onnx.checker.check_model(model)
    except Exception as error:  # the errors of ONNX's C++ side share no class
        raise ConfigError(f"{file.name}: no valid ONNX file ({error}); export the network anew") from error
    weights = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            weights[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    layers = list(_layers(model.graph, weights, file))
    return layers, _evaluation(model, weights, layers)


def _layers(graph: onnx.GraphProto, weights: dict[str, np.ndarray], file: Path) -> Iterator[Layer]:
    biases = {node.input[0]: node for node in graph.node if node.op_type == "Add"}
    used = set[str]()
    for node in graph.node:
        attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        if node.op_type in ("Gemm", "MatMul") and node.input[1] in weights:
            yield _linear(node, attributes, weights, biases.get(node.output[0]))
            used.add(node.output[0])
        elif node.op_type in ACTIVATIONS:
            yield Activation(name=node.op_type, attributes=attributes)
        elif node.op_type in ("LSTM", "GRU"):
            yield _recurrent(node, weights)
        elif node.op_type not in _GLUE and not (node.op_type == "Add" and node.input[0] in used):
            raise ConfigError(
                f"{file.name}: operator {node.op_type!r} is not a layer of an mlp, lstm or gru; export a network of"
                f" linear, LSTM or GRU layers and {', '.join(ACTIVATIONS)}"
            )


def _linear(node: Any, attributes: dict[str, Any], weights: dict[str, np.ndarray], add: Any) -> Linear:
    weight = weights[node.input[1]]
    weight = weight if attributes.get("transB") else weight.T
    bias = np.zeros(len(weight), weight.dtype)
    if len(node.input) > 2:
        bias = attributes.get("beta", 1.0) * weights[node.input[2]]
    elif add is not None and add.input[1] in weights:
        bias = weights[add.input[1]]
    return Linear(weight=attributes.get("alpha", 1.0) * weight, bias=bias)


def _recurrent(node: Any, weights: dict[str, np.ndarray]) -> Recurrent:
    kind = "lstm" if node.op_type == "LSTM" else "gru"
    weight_ih, weight_hh = (_gates(weights[node.input[index]][0], kind) for index in (1, 2))
    zeros = np.zeros((1, 2 * len(weight_ih)), weight_ih.dtype)
    both = weights[node.input[3]] if len(node.input) > 3 and node.input[3] else zeros
    bias_ih, bias_hh = (_gates(half, kind) for half in np.split(both[0], 2))
    return Recurrent(kind=kind, weight_ih=weight_ih, weight_hh=weight_hh, bias_ih=bias_ih, bias_hh=bias_hh)


def _gates(values: np.ndarray, kind: str) -> np.ndarray:
    """Return weights or biases with their gates in the order of torch."""
    gates = np.split(values, len(_GATES[kind]))
    return np.concatenate([gates[place] for place in _GATES[kind]])


def _evaluation(model: onnx.ModelProto, weights: dict[str, np.ndarray], layers: list[Layer]) -> Evaluate:
    """Return what evaluates a file with ONNX's own reference: inputs first, then states whole or one for each layer."""
    inputs = [value for value in model.graph.input if value.name not in weights]
    evaluator = ReferenceEvaluator(model)
    initial = [node.input for node in model.graph.node if node.op_type in ("LSTM", "GRU")]
    stacked = len(inputs) - 1 < len(initial) * (2 if any(len(each) > 6 for each in initial) else 1)

    def evaluate(values: np.ndarray, hidden: np.ndarray, cell: np.ndarray) -> np.ndarray:
        feeds = {inputs[0].name: _fitted(values, inputs[0])}
        states = [hidden, cell] if cell.size else [hidden]
        if stacked:
            feeds |= {value.name: state for value, state in zip(inputs[1:], states, strict=False)}
        else:
            for place, state in zip((5, 6), states, strict=False):
                feeds |= {node[place]: state[index : index + 1] for index, node in enumerate(initial)}
        outputs: Any = evaluator.run(None, feeds)
        return outputs[0]

    return evaluate


def _fitted(values: np.ndarray, declared: Any) -> np.ndarray:
    """Return inputs [N, inputs] in the rank that a file declares: a sequence of one step has a further axis."""
    extents = declared.type.tensor_type.shape.dim
    if len(extents) < 3:
        return values
    is_sequence_first = extents[0].dim_value == 1 and extents[1].dim_value != 1
    return values[None] if is_sequence_first else values[:, None]
