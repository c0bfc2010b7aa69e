"""Policies as ONNX files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pippin.extras import import_library

_OPERATORS = {"elu": "Elu", "relu": "Relu", "tanh": "Tanh"}


def write_policy(
    path: str | os.PathLike[str],
    layers: Sequence[tuple[np.ndarray, np.ndarray]],
    activation: str,
    *,
    mean: np.ndarray | None = None,
    std: np.ndarray | None = None,
    limit: float | None = None,
) -> None:
    """Write a network of dense layers as an ONNX file, for `pippin play` and other programs. PyTorch is not needed.

    Args:
        path: The file.
        layers: Weights, shape [outputs, inputs], and biases of each layer.
        activation: Function of the hidden units: "elu", "relu" or "tanh".
        mean: Mean of each observation, which is subtracted; the first layer takes it in.
        std: Number that each observation is divided by, likewise.
        limit: Size at which normalised observations are clipped, if the trainer does so.

    Raises:
        PluginError: The extra `policy` is not installed.
    """
    onnx = import_library("onnx", "policy")
    helper, numpy_helper, kind = onnx.helper, onnx.numpy_helper, onnx.TensorProto.FLOAT
    pairs: list[tuple[np.ndarray, np.ndarray]]
    pairs = [(np.asarray(weights, dtype=np.float32), np.asarray(bias, dtype=np.float32)) for weights, bias in layers]
    nodes, arrays, name, width = [], [], "observations", pairs[0][0].shape[1]
    if mean is not None and std is not None and limit is not None:
        values = {"mean": mean, "std": std, "low": -limit, "high": limit}
        arrays += [numpy_helper.from_array(np.asarray(value, np.float32), key) for key, value in values.items()]
        nodes += [
            helper.make_node("Sub", [name, "mean"], ["centred"]),
            helper.make_node("Div", ["centred", "std"], ["normal"]),
            helper.make_node("Clip", ["normal", "low", "high"], [name := "clipped"]),
        ]
    elif mean is not None and std is not None:
        scaled = pairs[0][0] / np.asarray(std, dtype=np.float32)
        pairs[0] = scaled, pairs[0][1] - scaled @ np.asarray(mean, dtype=np.float32)
    for index, pair in enumerate(pairs):
        keys = [f"weights_{index}", f"bias_{index}"]
        arrays += [numpy_helper.from_array(array, key) for array, key in zip(pair, keys, strict=True)]
        output = "action" if index == len(pairs) - 1 else f"sum_{index}"
        nodes.append(helper.make_node("Gemm", [name, *keys], [output], transB=1))
        if output != "action":
            nodes.append(helper.make_node(_OPERATORS[activation], [output], [name := f"unit_{index}"]))
    ends = [
        helper.make_tensor_value_info(key, kind, ["worlds", count])
        for key, count in (("observations", width), ("action", pairs[-1][0].shape[0]))
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], arrays)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    Path(path).write_bytes(model.SerializeToString(deterministic=True))
