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


def floater() -> newton.ModelBuilder:
    """Return a free box with an arm of two hinges, the second with limits, above nothing."""
    builder = newton.ModelBuilder(up_axis="Z")
    names = ("box", "upper", "lower")
    bodies = [builder.add_link(label=name, mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for name in names]
    builder.add_shape_box(bodies[0], hx=0.1, hy=0.1, hz=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=0.0))
    builder.add_shape_sphere(bodies[2], radius=0.05, cfg=newton.ModelBuilder.ShapeConfig(density=0.0))
    hinge = {"axis": (0.0, 1.0, 0.0), "parent_xform": wp.transform((0.0, 0.0, 0.3), wp.quat_identity())}
    joints = [
        builder.add_joint_free(bodies[0], label="root"),
        builder.add_joint_revolute(bodies[0], bodies[1], label="shoulder", **hinge),
        builder.add_joint_revolute(bodies[1], bodies[2], label="elbow", limit_lower=-0.1, limit_upper=0.2, **hinge),
    ]
    builder.add_articulation(joints, label="floater")
    builder.joint_q[7] = 0.4
    return builder


@pytest.fixture(scope="session")
def floating() -> Callable[..., pippin.Simulation]:
    """Return a function that builds the floater, without gravity, with a task of events."""

    def build(
        events: dict[str, Any],
        worlds: int = 4,
        solver: str = "featherstone",
        simulation: dict[str, Any] | None = None,
        scene: dict[str, Any] | None = None,
        actuator: dict[str, Any] | None = None,
        **task: Any,
    ) -> pippin.Simulation:
        arm = {"type": "pd", "joints": ["shoulder", "elbow"], "kp": 10.0, "kd": 1.0, **(actuator or {})}
        tables = {
            "simulation": {"device": "cpu", "dt": 0.01, **(simulation or {})},
            "scene": {"worlds": worlds, "gravity": [0.0, 0.0, 0.0], **(scene or {})},
            "solver": {"type": solver},
            "actuators": {"arm": arm},
            "task": {"events": events, **task},
        }
        return pippin.Simulation(pippin.structure(tables), prototype=floater())

    build.prototype = floater
    return build
