"""Layers of a checkpoint of torch: TorchScript, or a dictionary of weights."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from pippin import ConfigError, PluginError

from .layers import Activation, Layer, Linear, Recurrent

if TYPE_CHECKING:
    import torch

__all__ = ["Evaluate", "read_torch"]

Evaluate = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Returns the efforts of inputs [N, inputs] and of hidden and cell states [layers, N, cells]."""

_TABLES = ("model_state_dict", "state_dict")
"""Keys below which training programs keep the weights."""

_RECURRENT = re.compile(r"(?P<prefix>.*?)(?P<part>weight_ih|weight_hh|bias_ih|bias_hh)_l(?P<layer>\d+)(?P<rest>.*)")

_ATTRIBUTES = {"aten::elu": ("alpha",), "aten::leaky_relu": ("alpha",)}
"""Attributes of an operator after its input, by the name that ONNX gives them."""

_OPERATORS = {
    "aten::elu": "Elu",
    "aten::gelu": "Gelu",
    "aten::leaky_relu": "LeakyRelu",
    "aten::relu": "Relu",
    "aten::selu": "Selu",
    "aten::sigmoid": "Sigmoid",
    "aten::softplus": "Softplus",
    "aten::abs": "Softsign",  # torch writes it as x / (1 + |x|)
    "aten::tanh": "Tanh",
}


def read_torch(file: Path, activation: str | None) -> tuple[list[Layer], Evaluate | None]:
    """Return the layers of a checkpoint, and what evaluates it; None for a dictionary of weights.

    Args:
        file: The checkpoint.
        activation: The activation between linear layers, which a dictionary of weights does not hold.

    Raises:
        PluginError: Torch is not installed.
        ConfigError: The file holds no network of linear, lstm and gru layers, or no activation is known.
    """
    try:
        import torch
    except ImportError as error:
        raise PluginError(
            f"{file.name}: a checkpoint of torch, which is not installed; install pippin-actuator-neural[torch]"
        ) from error
    if _is_script(file):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r".*torch\.jit")  # deprecated; such networks are published in it
            module = torch.jit.load(str(file), map_location="cpu").eval()
            order = list(_order(torch.jit.freeze(module).graph)) if activation is None else None
        return _arranged(module.state_dict(), activation, order, file), _evaluation(module)
    try:
        weights = torch.load(str(file), map_location="cpu", weights_only=True)
    except Exception as error:  # pickle, zip and torch raise errors of many classes
        reason = str(error).split("\n")[0]
        raise ConfigError(
            f"{file.name}: torch reads no dictionary of weights ({reason}); save `network.state_dict()`"
        ) from error
    for key in _TABLES:
        weights = weights.get(key, weights) if isinstance(weights, Mapping) else weights
    if not isinstance(weights, Mapping) or not all(isinstance(each, torch.Tensor) for each in weights.values()):
        raise ConfigError(f"{file.name}: it holds no dictionary of weights; save `network.state_dict()`")
    return _arranged(weights, activation, None, file), None


def _is_script(file: Path) -> bool:
    """Tell whether a file is TorchScript, which holds code besides weights."""
    try:
        with ZipFile(file) as archive:
            names = archive.namelist()
    except BadZipFile:
        return False
    if any(name.endswith("archive_format") for name in names):
        raise ConfigError(f"{file.name}: an archive of `torch.export`; export the network to ONNX instead")
    return any("/code/" in name for name in names)


def _arranged(
    weights: Mapping[str, torch.Tensor], activation: str | None, order: list[Activation | None] | None, file: Path
) -> list[Layer]:
    """Return recurrent layers, then linear ones with their activations: given, or in the order of the operators."""
    recurrent, linear = _read_weights({name: each.detach().numpy() for name, each in weights.items()}, file)
    if order is not None:
        if order.count(None) != len(linear):
            raise ConfigError(
                f"{file.name}: it has {len(linear)} linear layers, and its code calls {order.count(None)}; give the"
                " activation with --activation, and compare"
            )
        rest = iter(linear)
        return [*recurrent, *(next(rest) if each is None else each for each in order)]
    if len(linear) > 1 and activation is None:
        raise ConfigError(f"{file.name}: weights alone do not tell the activation; give it with --activation")
    layers: list[Layer] = [*recurrent, *linear[:1]]
    for each in linear[1:]:
        layers += [Activation(name=str(activation)), each]
    return layers


def _read_weights(weights: dict[str, np.ndarray], file: Path) -> tuple[list[Recurrent], list[Linear]]:
    """Return the layers of named weights.

    Raises:
        ConfigError: Weights are left over.
    """
    rest, recurrent, linear = dict(weights), list[Recurrent](), list[Linear]()
    for name in weights:
        found = _RECURRENT.fullmatch(name)
        if found and found["part"] == "weight_ih" and not found["rest"]:
            recurrent.append(_take_recurrent(rest, found["prefix"], found["layer"]))
        elif name.endswith("weight") and weights[name].ndim == 2 and not found:
            weight, bias = rest.pop(name), rest.pop(f"{name.removesuffix('weight')}bias", None)
            linear.append(Linear(weight=weight, bias=np.zeros(len(weight), weight.dtype) if bias is None else bias))
    if rest:
        raise ConfigError(
            f"{file.name}: no layer of an mlp, lstm or gru in one direction has weights {', '.join(rest)}; train"
            " a network of such layers"
        )
    return recurrent, linear


def _take_recurrent(rest: dict[str, np.ndarray], prefix: str, layer: str) -> Recurrent:
    weight_ih, weight_hh = (rest.pop(f"{prefix}{part}_l{layer}") for part in ("weight_ih", "weight_hh"))
    zeros = np.zeros(len(weight_ih), weight_ih.dtype)
    bias_ih, bias_hh = (rest.pop(f"{prefix}{part}_l{layer}", zeros) for part in ("bias_ih", "bias_hh"))
    kind = "lstm" if len(weight_hh) == 4 * weight_hh.shape[1] else "gru"
    return Recurrent(kind=kind, weight_ih=weight_ih, weight_hh=weight_hh, bias_ih=bias_ih, bias_hh=bias_hh)


def _order(graph: Any) -> Iterator[Activation | None]:
    """Yield the activations of a frozen graph in their order, and None for each linear layer."""
    for node in graph.nodes():
        name = node.kind().removesuffix("_")  # in place or not
        if name in ("aten::linear", "aten::addmm"):
            yield None
        elif name in _OPERATORS:
            values = [each.toIValue() for each in list(node.inputs())[1:]]
            attributes = dict(zip(_ATTRIBUTES.get(name, ()), values, strict=False))
            yield Activation(name=_OPERATORS[name], attributes=attributes)
        for block in node.blocks():
            yield from _order(block)


def _evaluation(module: Any) -> Evaluate:
    """Return what evaluates a module: called with inputs, or with inputs [N, 1, inputs] and its states."""

    def evaluate(inputs: np.ndarray, hidden: np.ndarray, cell: np.ndarray) -> np.ndarray:
        import torch

        states = [torch.from_numpy(each) for each in (hidden, cell) if each.size]
        with torch.inference_mode():
            if not states:
                return module(torch.from_numpy(inputs)).numpy()
            sequence = torch.from_numpy(inputs)[:, None]
            return module(sequence, tuple(states) if len(states) > 1 else states[0])[0].numpy()

    return evaluate
