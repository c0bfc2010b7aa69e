"""Networks of layers in one chain, read from ONNX and evaluated by Warp for all worlds at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import warp as wp
from pippin.errors import ConfigError, PluginError

from . import kernels

if TYPE_CHECKING:
    import onnx

__all__ = ["Network"]

_UNARY: Mapping[str, int] = {"Relu": 0, "Tanh": 1, "Sigmoid": 2, "Elu": 3, "LeakyRelu": 4, "Softplus": 5, "Selu": 6}
"""Operators of one number, by their code in the kernel."""

_BINARY: Mapping[str, int] = {"Add": 0, "Sub": 1, "Mul": 2, "Div": 3}
"""Operators with a constant vector, by their code in the kernel."""

_NEUTRAL = ("Identity", "Flatten", "Dropout", "Cast", "Reshape", "Squeeze", "Unsqueeze")
"""Operators that leave the numbers of a row as they are."""

_DEFAULTS = {"Elu": (1.0, 0.0), "LeakyRelu": (0.01, 0.0), "Selu": (1.6732632, 1.0507010)}
"""Default parameters of operators."""


@attrs.frozen(eq=False)
class _Layer:
    width: int
    """Numbers of a row that the layer gives."""
    run: Callable[[wp.array, wp.array], None]
    """Writes the rows of the second array from those of the first one; they may be the same."""
    is_in_place: bool = True


class Network:
    """A network in one chain, for rows of numbers.

    Args:
        file: The ONNX file.
        rows: Number of rows.
        width: Numbers of a row of the input.
        device: The device.

    Raises:
        ConfigError: The file cannot be read, is no chain of known operators, or has another width.
        PluginError: The library `onnx` is not installed.
    """

    def __init__(self, file: Path, rows: int, width: int, device: wp.Device) -> None:
        self._file, self._device = file, device
        model = _read(file)
        graph = model.graph
        self._constants = _constants(graph)
        inputs = [each.name for each in graph.input if each.name not in self._constants]
        if len(inputs) != 1 or len(graph.output) < 1:
            raise ConfigError(
                f"path: '{file}' has the inputs {', '.join(inputs) or 'none'}; export a network of one input, the"
                " observations"
            )
        layers = list(self._layers(graph, inputs[0], width))
        #: Numbers of a row of the output.
        self.width = layers[-1].width if layers else width
        self._calls: list[tuple[_Layer, wp.array | None, wp.array | None]] = []
        current: Any = None
        for layer in layers:
            target: Any = current
            if current is None or not layer.is_in_place:
                target = wp.zeros((rows, layer.width), dtype=float, device=device)
            self._calls.append((layer, current, target))
            current = target
        self._result: Any = current

    def __call__(self, observations: wp.array, action: wp.array) -> None:
        """Write the network's output for each row, shape [rows, width], from the input. May be recorded."""
        for layer, source, target in self._calls:
            layer.run(observations if source is None else source, target)  # pyright: ignore[reportArgumentType]
        wp.copy(action, observations if self._result is None else self._result)

    def _layers(self, graph: onnx.GraphProto, name: str, width: int) -> list[_Layer]:
        """Return the layers from the input to the first output."""
        layers, nodes, wanted = list[_Layer](), list(graph.node), graph.output[0].name
        while name != wanted:
            found = [node for node in nodes if name in node.input]
            if not found:
                raise ConfigError(f"path: '{self._file}': nothing leads from {name!r} to the output {wanted!r}")
            node = found[0] if len(found) == 1 else self._towards(found, nodes, wanted, name)
            if node.op_type not in _NEUTRAL:
                layers.append(self._layer(node, name, width))
                width = layers[-1].width
            name = node.output[0]
        return layers

    def _towards(self, found: Sequence[onnx.NodeProto], nodes: Sequence[Any], wanted: str, name: str) -> Any:
        """Return the only node of several from which the output is reached; other outputs are left alone."""
        useful = [node for node in found if _reaches(node, nodes, wanted)]
        if len(useful) != 1:
            kinds = ", ".join(node.op_type for node in useful)
            raise ConfigError(
                f"path: '{self._file}': {name!r} is used by {kinds}: the network is no chain; export the mean action of"
                " a plain multilayer perceptron"
            )
        return useful[0]

    def _layer(self, node: onnx.NodeProto, name: str, width: int) -> _Layer:
        kind = node.op_type
        if kind in ("Gemm", "MatMul"):
            return self._dense(node, name, width)
        if kind in _BINARY:
            return self._with_vector(node, name, width)
        if kind == "Clip":
            low, high = (self._number(node, index, limit) for index, limit in ((1, -np.inf), (2, np.inf)))
            return self._unary(7, (low, high), width)
        if kind in _UNARY:
            alpha, gamma = _DEFAULTS.get(kind, (0.0, 0.0))
            given = {each.name: each.f for each in node.attribute}
            return self._unary(_UNARY[kind], (given.get("alpha", alpha), given.get("gamma", gamma)), width)
        known = ", ".join(("Gemm", "MatMul", *_BINARY, *_UNARY, "Clip"))
        raise ConfigError(f"path: '{self._file}': the operator {kind} is not known; known: {known}")

    def _unary(self, code: int, parameters: tuple[float, float], width: int) -> _Layer:
        def run(source: wp.array, target: wp.array) -> None:
            inputs = [source, code, wp.vec2(*parameters), target]
            wp.launch(kernels.activate, target.shape, inputs, device=self._device)

        return _Layer(width, run)

    def _with_vector(self, node: onnx.NodeProto, name: str, width: int) -> _Layer:
        is_first = node.input[0] == name
        other = self._constant(node, node.input[1 if is_first else 0])
        vector: Any = self._array(np.broadcast_to(other.reshape(-1), width))

        def run(source: wp.array, target: wp.array) -> None:
            inputs = [source, _BINARY[node.op_type], int(is_first), vector, target]
            wp.launch(kernels.combine, target.shape, inputs, device=self._device)

        return _Layer(width, run)

    def _dense(self, node: onnx.NodeProto, name: str, width: int) -> _Layer:
        given = {each.name: each for each in node.attribute}
        if node.input[0] != name or (given.get("transA") and given["transA"].i):
            raise ConfigError(
                f"path: '{self._file}': {node.op_type} multiplies from the left; export rows times weights"
            )
        weights = self._constant(node, node.input[1])
        if given.get("transB") and given["transB"].i:
            weights = weights.T
        weights = weights * (given["alpha"].f if "alpha" in given else 1.0)
        if weights.ndim != 2 or weights.shape[0] != width:
            raise ConfigError(
                f"path: '{self._file}': a layer takes {weights.shape[0]} numbers, and gets {width}; train with these"
                " observations, or choose another group"
            )
        bias = np.zeros(weights.shape[1], dtype=np.float32)
        if len(node.input) > 2:
            bias = self._constant(node, node.input[2]).reshape(-1) * (given["beta"].f if "beta" in given else 1.0)
        matrix, vector = self._array(weights), self._array(np.broadcast_to(bias, weights.shape[1]))

        def run(source: wp.array, target: wp.array) -> None:
            wp.launch(kernels.multiply, target.shape, [source, matrix, vector, target], device=self._device)

        return _Layer(weights.shape[1], run, is_in_place=False)

    def _constant(self, node: onnx.NodeProto, name: str) -> np.ndarray:
        if name not in self._constants:
            raise ConfigError(
                f"path: '{self._file}': {node.op_type} combines two computed values; export a plain chain"
            )
        return self._constants[name]

    def _number(self, node: onnx.NodeProto, index: int, missing: float) -> float:
        if len(node.input) <= index or not node.input[index]:
            return missing
        return float(self._constant(node, node.input[index]).reshape(()))

    def _array(self, values: np.ndarray) -> wp.array:
        return wp.array(np.ascontiguousarray(values, dtype=np.float32), dtype=float, device=self._device)


def _read(file: Path) -> Any:
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise PluginError("policy: reads ONNX files; install it: uv pip install 'pippin[policy]'") from error
    try:
        model = onnx.load(file)
        onnx.checker.check_model(model)
    except Exception as error:
        raise ConfigError(f"path: '{file}' is no valid ONNX file: {' '.join(str(error).split())[:200]}") from error
    return model


def _constants(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """Return the weights and other constants by name."""
    from onnx import numpy_helper

    found = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            found[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return found


def _reaches(node: Any, nodes: Sequence[Any], wanted: str) -> bool:
    """Tell whether the output follows from a node."""
    reached, is_growing = set(node.output), True
    while is_growing:
        more = {out for each in nodes if reached.intersection(each.input) for out in each.output} - reached
        is_growing = bool(more)
        reached |= more
    return wanted in reached
