"""A cart with a pole whose task every test may change, and networks as ONNX files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import newton
import numpy as np
import onnx
import pippin
import pytest
import warp as wp
from onnx import TensorProto, helper, numpy_helper

TASK: dict[str, Any] = {
    "actions": {"force": {"type": "joint-targets", "actuator": "rail", "clip": [-1.0, 1.0]}},
    "observations": {
        "policy": {"positions": {"of": "joint-positions"}, "velocities": {"of": "joint-velocities", "history": 2}}
    },
    "rewards": {"alive": {"type": "alive", "weight": 2.0}},
    "terminations": {
        "fallen": {"type": "outside", "of": {"type": "joint-positions", "joints": ["pole"]}, "low": -0.3, "high": 0.3}
    },
    "events": {"start": {"type": "joints", "position": [-0.1, 0.1], "velocity": [-0.1, 0.1]}},
}
"""A task for the cart."""


def cart() -> newton.ModelBuilder:
    """Return a cart on a rail with a pole that stands on it."""
    builder = newton.ModelBuilder(up_axis="Z")
    bodies = [builder.add_link(label=name, mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for name in ("cart", "pole")]
    foot = wp.transform((0.0, 0.0, -0.5), wp.quat_identity())
    joints = [
        builder.add_joint_prismatic(-1, bodies[0], axis=(1.0, 0.0, 0.0), label="rail"),
        builder.add_joint_revolute(bodies[0], bodies[1], axis=(0.0, 1.0, 0.0), child_xform=foot, label="pole"),
    ]
    builder.add_articulation(joints, label="cart")
    return builder


@pytest.fixture
def tasked() -> Callable[..., pippin.Simulation]:
    """Return a function that builds the cart with a task, whose tables may be replaced by keyword."""

    def build(
        solver: str = "featherstone", worlds: int = 3, policy: Any = None, plugins: Any = (), **task: Any
    ) -> pippin.Simulation:
        tables = {
            "simulation": {"device": "cpu", "dt": 0.01, "decimation": 2, **task.pop("simulation", {})},
            "scene": {"worlds": worlds, **task.pop("scene", {})},
            "solver": {"type": solver},
            "actuators": {"rail": {"type": "pd", "joints": ["rail"], "kp": 10.0, "kd": 1.0}},
            "task": {**TASK, **task},
        }
        if policy is not None:
            tables["policy"] = policy
        return pippin.Simulation(pippin.structure(tables), plugins, prototype=cart())

    return build


Node = tuple[str, Sequence[np.ndarray | None], dict[str, Any]]


@pytest.fixture
def network_file(tmp_path) -> Callable[..., Path]:
    """Return a function that writes a chain of ONNX operators: each with its constants and its attributes."""

    def write(width: int, nodes: Sequence[Node], name: str = "policy.onnx") -> Path:
        made, constants, last = [], [], "observations"
        for index, (kind, operands, attributes) in enumerate(nodes):
            names = []
            for number, operand in enumerate(operands):
                names.append("" if operand is None else f"c{index}_{number}")
                if operand is not None:
                    constants.append(numpy_helper.from_array(np.asarray(operand, np.float32), names[-1]))
            made.append(helper.make_node(kind, [last, *names], [f"x{index}"], **attributes))
            last = f"x{index}"
        inputs = [helper.make_tensor_value_info("observations", TensorProto.FLOAT, [None, width])]
        outputs = [helper.make_tensor_value_info(last, TensorProto.FLOAT, [None, None])]
        graph = helper.make_graph(made, "policy", inputs, outputs, constants)
        file = tmp_path / name
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
        return file

    return write
