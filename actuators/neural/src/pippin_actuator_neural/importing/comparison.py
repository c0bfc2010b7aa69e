"""Comparison of a written file with the checkpoint that it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx.reference import ReferenceEvaluator
from pippin import ConfigError

from .from_torch import Evaluate
from .layers import Activation, Layer, Linear, Recurrent

__all__ = ["largest_difference"]

_TOLERANCE = 1e-5
"""Largest difference of an effort, as a part of the largest effort."""


def largest_difference(path: Path, layers: list[Layer], evaluate: Evaluate, source: str) -> float:
    """Return the largest difference of efforts, as a part of the largest effort, over random inputs and states.

    Raises:
        ConfigError: The checkpoint gives other efforts: it does something besides its layers.
    """
    rng, evaluator = np.random.default_rng(0), ReferenceEvaluator(str(path))
    expected, found = [], []
    for _ in range(16):
        inputs, states = _draw(layers, rng)
        expected.append(np.reshape(evaluate(inputs, *states), -1))
        outputs: Any = evaluator.run(["effort"], _feeds(inputs, states))
        found.append(np.reshape(outputs[0], -1))
    expected, found = np.array(expected), np.array(found)
    if expected.shape != found.shape:
        raise ConfigError(f"{source}: it gives {expected.shape[1]} numbers for one joint, expected 1")
    difference = float(np.abs(expected - found).max() / max(np.abs(expected).max(), 1e-30))
    if not difference <= _TOLERANCE:
        raise ConfigError(
            f"{source}: its layers alone give other efforts than it, by {difference:.1g} of the largest: it does more"
            " than they do; export the layers alone, and give scales with --set"
        )
    return difference


def _draw(layers: list[Layer], rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return inputs [1, inputs], and hidden and cell states [layers, 1, cells]: empty if there are none."""
    recurrent = [layer for layer in layers if isinstance(layer, Recurrent)]
    first = next(layer for layer in layers if not isinstance(layer, Activation))
    width = (first.weight if isinstance(first, Linear) else first.weight_ih).shape[1]
    inputs = rng.normal(size=(1, width)).astype(np.float32)
    shapes = [(0, 1, 0)] * 2
    for place in range({"lstm": 2, "gru": 1}[recurrent[0].kind] if recurrent else 0):
        shapes[place] = (len(recurrent), 1, recurrent[0].cells)
    return inputs, [rng.uniform(-1.0, 1.0, shape).astype(np.float32) for shape in shapes]


def _feeds(inputs: np.ndarray, states: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Return the inputs of a written file by name."""
    feeds = {"state": inputs[None] if states[0].size else inputs}
    for name, state in zip(("hidden", "cell"), states, strict=True):
        feeds |= {f"{name}_{layer}": state[layer : layer + 1] for layer in range(len(state))}
    return feeds
