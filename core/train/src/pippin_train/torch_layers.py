"""Dense layers of PyTorch: their numbers, and their activations by name."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import torch
from pippin import ConfigError
from torch import nn

from .networks import RecurrentLayer

ACTIVATIONS = {"elu": nn.ELU, "relu": nn.ReLU, "tanh": nn.Tanh}


def limit_threads(count: int) -> None:
    """Let PyTorch use some threads of this process; 0 leaves their number as it is."""
    if count:
        torch.set_num_threads(count)


def set_rate(optimizer: Any, rate: float) -> None:
    """Let an optimiser take steps of a size."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def layers_of(modules: Iterable[nn.Module]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return weights and biases of the dense layers among some modules."""
    dense = [each for each in modules if isinstance(each, nn.Linear)]
    return [(each.weight.detach().cpu().numpy(), each.bias.detach().cpu().numpy()) for each in dense]


def recurrent_of(module: nn.GRU | nn.LSTM) -> list[RecurrentLayer]:
    """Return the layers of a recurrent module."""
    found = []
    for index in range(module.num_layers):
        keys = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        inputs, hidden, *biases = (getattr(module, f"{key}_l{index}").detach().cpu().numpy() for key in keys)
        kind = "GRU" if isinstance(module, nn.GRU) else "LSTM"
        found.append(RecurrentLayer(kind=kind, weights=(inputs, hidden), biases=(biases[0], biases[1])))
    return found


def network(inputs: int, hidden: Iterable[int], outputs: int, activation: str) -> nn.Sequential:
    """Return dense layers with an activation between them."""
    sizes = [inputs, *hidden, outputs]
    layers = [
        layer
        for size, following in pairwise(sizes)
        for layer in (nn.Linear(size, following), ACTIVATIONS[activation]())
    ]
    return nn.Sequential(*layers[:-1])


def read_parts(path: Path) -> Any:
    """Return what a trainer saved: numbers and tensors. A file with other objects could run code, and is refused."""
    try:
        with ZipFile(path) as archive:  # PyTorch does not look at the checksums
            if (damaged := archive.testzip()) is not None:
                raise ValueError(f"{damaged} does not have its checksum")
        return torch.load(path, weights_only=True)
    except Exception as error:  # decoders raise errors of any class about what is damaged
        reason = str(error).partition("\n")[0][:200]
        raise ConfigError(f"trainer: '{path}' is not a checkpoint of a training: {reason}") from error
