"""Write the network of `docs/examples/quadruped_neural.toml`: `python docs/write_knee_network.py`.

No motor was measured: the network is fitted to a formula, PD control behind the torque-speed curve of a DC motor. Data
of a real motor would take the place of `motor_effort`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx

FILE = Path(__file__).parent / "examples" / "knee.onnx"
KP, KD = 100.0, 2.0  # [N·m/rad], [N·m·s/rad]
SATURATION_EFFORT, VELOCITY_LIMIT, MAX_EFFORT = 120.0, 20.0, 80.0  # [N·m], [rad/s], [N·m]
ERROR_RANGE, VELOCITY_RANGE = 2.0, 25.0  # range of the fit: ± [rad], ± [rad/s]
PAIRS = 12  # half of the network's tanh cells


def motor_effort(error: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return the effort that the network is fitted to [N·m], for position errors [rad] and velocities [rad/s]."""
    highest = np.minimum(SATURATION_EFFORT * (1.0 - velocity / VELOCITY_LIMIT), MAX_EFFORT)
    lowest = np.maximum(SATURATION_EFFORT * (-1.0 - velocity / VELOCITY_LIMIT), -MAX_EFFORT)
    limits = np.clip(lowest, -MAX_EFFORT, MAX_EFFORT), np.clip(highest, -MAX_EFFORT, MAX_EFFORT)
    return np.clip(KP * error - KD * velocity, *limits)


def fit(iterations: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return input weights, biases and output weights of the cells, by the method of Levenberg and Marquardt.

    The law is odd, so the cells come in pairs tanh(w·x + b) + tanh(w·x − b), whose effort is zero at rest.
    """
    grid = np.meshgrid(np.linspace(-1.0, 1.0, 61), np.linspace(-1.0, 1.0, 41))
    inputs = np.stack([axis.ravel() for axis in grid], axis=1)
    wanted = motor_effort(ERROR_RANGE * inputs[:, 0], VELOCITY_RANGE * inputs[:, 1]) / MAX_EFFORT
    random = np.random.default_rng(0)
    weights = np.concatenate([random.normal(0.0, 3.0, 2 * PAIRS), random.uniform(0.0, 3.0, PAIRS), np.full(PAIRS, 0.1)])
    damping, (residual, slope) = 1.0, excess(weights, inputs, wanted)
    for _ in range(iterations):
        step = np.linalg.solve(slope.T @ slope + damping * np.eye(weights.size), slope.T @ residual)
        tried = excess(weights - step, inputs, wanted)
        if tried[0] @ tried[0] < residual @ residual:
            weights, (residual, slope), damping = weights - step, tried, damping / 3.0
        else:
            damping *= 2.0
    cells, biases, outputs = split(weights)
    return np.tile(cells, (2, 1)), np.concatenate([biases, -biases]), np.tile(outputs, 2)


def excess(weights: np.ndarray, inputs: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the error of the network at each point, and its derivative with respect to each weight."""
    cells, biases, outputs = split(weights)
    sums = inputs @ cells.T
    up, down = np.tanh(sums + biases), np.tanh(sums - biases)
    by_sum, by_bias = (2.0 - up**2 - down**2) * outputs, (down**2 - up**2) * outputs
    by_cell = (by_sum[:, :, None] * inputs[:, None, :]).reshape(len(inputs), -1)
    return (up + down) @ outputs - wanted, np.concatenate([by_cell, by_bias, up + down], axis=1)


def split(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weights of the inputs, shape [pairs, 2], the biases and the weights of the output."""
    cells, biases, outputs = np.split(weights, [2 * PAIRS, 3 * PAIRS])
    return cells.reshape(-1, 2), biases, outputs


def build(cells: np.ndarray, biases: np.ndarray, outputs: np.ndarray) -> onnx.ModelProto:
    """Return the network of tanh cells, with the metadata that Pippin reads."""
    from onnx import TensorProto, helper, numpy_helper

    weights = {"cells": cells, "biases": biases, "outputs": outputs[None]}
    nodes = [
        helper.make_node("Gemm", ["state", "cells", "biases"], ["sums"], transB=1),
        helper.make_node("Tanh", ["sums"], ["given"]),
        helper.make_node("Gemm", ["given", "outputs"], ["effort"], transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "knee",
        [helper.make_tensor_value_info("state", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("effort", TensorProto.FLOAT, [None, 1])],
        [numpy_helper.from_array(array.astype(np.float32), name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    scales = {"pos_scale": 1.0 / ERROR_RANGE, "vel_scale": 1.0 / VELOCITY_RANGE, "effort_scale": MAX_EFFORT}
    entry = model.metadata_props.add()
    entry.key, entry.value = "metadata", json.dumps({"model_type": "mlp", **scales})
    return model


def main() -> None:
    """Fit the network and write the file."""
    FILE.write_bytes(build(*fit()).SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
