"""Newton's neural drives, loaded with backward kernels, and with errors that name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from newton.actuators import DriveBase, DriveNeuralGRU, DriveNeuralLSTM, DriveNeuralMLP
from pippin import ConfigError
from pippin.actuation import backward_kernels

from .network import Network
from .stacked import StackedLSTM

if TYPE_CHECKING:
    import onnx
    import warp as wp

__all__ = ["build_drive"]


class _Loaded(DriveBase):
    """A drive whose network Newton compiles, and runs once, when the drive gets its device."""

    model_path: str

    def finalize(self, device: wp.Device, num_actuators: int) -> None:
        """Load the network for a number of lanes.

        Raises:
            ConfigError: Newton cannot run the network: an operator it does not know, or a shape that does not fit.
        """
        file = self.model_path
        with _located(file), backward_kernels(), _with_biases(file) as self.model_path:
            super().finalize(device, num_actuators)
        self.model_path = file


class MLP(_Loaded, DriveNeuralMLP):
    """A feed-forward network on a window of past states."""


class LSTM(_Loaded, DriveNeuralLSTM):
    """A recurrent network with hidden and cell state."""


class LSTMStack(_Loaded, StackedLSTM):
    """A recurrent network of several layers, each with hidden and cell state."""


class GRU(_Loaded, DriveNeuralGRU):
    """A recurrent network with hidden state."""


def build_drive(network: Network) -> DriveBase:
    """Return the drive for a network that has been checked.

    Raises:
        ConfigError: Newton refuses the network.
    """
    if network.stack is not None:
        return LSTMStack(str(network.file), network.stack)
    drives: dict[str, Any] = {"mlp": MLP, "lstm": LSTM, "gru": GRU}
    with _located(str(network.file)):
        return drives[network.model_type](str(network.file))


@contextmanager
def _located(file: str) -> Iterator[None]:
    try:
        yield
    except (KeyError, NotImplementedError, TypeError, ValueError) as error:
        raise ConfigError(f"model_path: {Path(file).name!r}: Newton cannot run this network: {error}") from error


@contextmanager
def _with_biases(file: str) -> Iterator[str]:
    """Write the network with a bias in every linear layer, of zeros if it has none.

    A layer with a bias and one without have different kernels of the same name, and Warp 1.19 finds the kernels of a
    CPU graph by name: a replay would run one kernel for both.
    """
    import onnx

    model = onnx.load(file)
    for index, node in enumerate(model.graph.node):
        if node.op_type == "Gemm" and (len(node.input) == 2 or not node.input[2]):
            _add_bias(model.graph, node, f"zeros of layer {index}")
    with TemporaryDirectory(prefix="pippin-network-") as folder:
        copy = Path(folder, Path(file).name)
        onnx.save(model, copy)
        yield str(copy)


def _add_bias(graph: onnx.GraphProto, node: onnx.NodeProto, name: str) -> None:
    import onnx

    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    is_transposed = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
    if node.input[1] in shapes:
        width = shapes[node.input[1]][0 if is_transposed else 1]
        graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(width, dtype=np.float32), name))
        node.input[2:] = [name]
