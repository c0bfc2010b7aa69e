"""A cart with a pole whose task every test may change; networks as ONNX files; ants in states drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.config import ComponentConfig
from pippin_task import Command, TermContext, Termination
from pippin_task.all_terms import QuantityCache

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
    import onnx  # an extra of the package: its other tests do without
    from onnx import TensorProto, helper, numpy_helper

    def write(width: int | tuple[int, ...], nodes: Sequence[Node], name: str = "policy.onnx") -> Path:
        made, constants, last = [], [], "observations"
        for index, (kind, operands, attributes) in enumerate(nodes):
            names = []
            for number, operand in enumerate(operands):
                names.append("" if operand is None else f"c{index}_{number}")
                if operand is not None:
                    constants.append(numpy_helper.from_array(np.asarray(operand, np.float32), names[-1]))
            made.append(helper.make_node(kind, [last, *names], [f"x{index}"], **attributes))
            last = f"x{index}"
        inputs = [
            helper.make_tensor_value_info("observations", TensorProto.FLOAT, [None, *np.atleast_1d(width).tolist()])
        ]
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


ANT = Path(__file__).parents[3] / "docs" / "examples" / "ant.toml"


class Target(Command):
    """A command of three numbers, drawn by hand."""

    labels = ("x", "y", "yaw")
    unit = "m/s, m/s, rad/s"

    def __init__(self, context: TermContext) -> None:
        super().__init__(None, context)
        self.value = wp.array([[0.0, 0.05, 3.0], [0.5, 0.0, 0.0], [-1.0, 0.5, 0.2]], dtype=float, device="cpu")

    def resample(self, world_mask: wp.array[wp.bool]) -> None:
        self.value.zero_()


@attrs.define
class Terms:
    """The terms of a task over three ants."""

    simulation: pippin.Simulation
    commands: Mapping[str, Command] = attrs.field(factory=dict)
    quantities: dict[TermContext, QuantityCache] = attrs.field(factory=dict)
    """The quantities of each context."""

    def context(self, name: str = "rewards.tried") -> TermContext:
        task = self.simulation.task
        assert task is not None
        quantities = QuantityCache()
        context = TermContext(self.simulation, task.episodes, name, quantities.quantity, self.commands, {}, {})
        self.quantities[context] = quantities
        return context

    def choose(self, kind: Any, type: str, **keys: Any) -> ComponentConfig:
        return ComponentConfig(type=type, config=self.simulation.catalog.find(kind, type).load_config()(**keys))

    def make(self, kind: Any, type: str, **keys: Any) -> Any:
        """Return a term; `of` is the name of a quantity, or a table."""
        if isinstance(of := keys.get("of"), str | dict):
            table = {"type": of} if isinstance(of, str) else of
            keys["of"] = self.choose("quantity", **table)
        if kind == "reward":
            keys.setdefault("weight", 1.0)
        entry = self.simulation.catalog.find(kind, type)
        plugin: Any = entry.load()
        return plugin(entry.load_config()(**keys), self.context())

    def measure(self, type: str, **keys: Any) -> np.ndarray:
        """Return the numbers of a quantity in the present state."""
        return self.read(self.make("quantity", type, **keys))

    def read(self, quantity: Any) -> np.ndarray:
        out: Any = wp.zeros((3, len(quantity.labels)), dtype=float, device="cpu")
        quantity.measure(self.simulation.state, out)
        return out.numpy().copy()

    def evaluate(self, type: str, kind: str = "reward", **keys: Any) -> np.ndarray:
        """Return a reward or a termination in the present state, after measuring what it needs."""
        return self.judge(self.make(kind, type, **keys))

    def judge(self, term: Any) -> np.ndarray:
        self.quantities[term.context].measure(self.simulation.state)
        dtype = bool if isinstance(term, Termination) else float
        out: Any = wp.zeros(3, dtype=dtype, device="cpu")
        term.evaluate(out)
        return out.numpy().copy()

    def set(self, output: str, values: np.ndarray) -> np.ndarray:
        """Let the feet read some values, and return them."""
        data = self.simulation.sensors["feet"].outputs[output].data
        data.assign(values.astype(data.numpy().dtype))
        return values


@pytest.fixture(scope="session")
def ants():
    """Three ants with a task that has an action of eight numbers."""
    task = {"actions": {"legs": {"type": "joint-targets", "actuator": "legs"}}}
    feet = {"type": "contact", "bodies": [".*_foot"]}
    changes: dict[str, Any] = {"simulation.device": "cpu", "scene.worlds": 3, "solver": {"type": "xpbd"}, "task": task}
    changes |= {"sensors.feet.history": 2, "sensors.toes": feet, "simulation.seed": 3}
    changes["sensors.soles"] = {"type": "contact", "shapes": [".*"]}
    changes["simulation.accept_unsupported"] = ["armature", "joint_damping"]
    with pippin.Simulation.from_file(ANT, changes) as simulation:
        terms = Terms(simulation)
        terms.commands = {"target": Target(terms.context("commands.target"))}
        yield terms


@pytest.fixture
def terms(ants):
    """The ants in a state drawn at random, with bodies where their joints have them."""
    random, simulation = np.random.default_rng(7), ants.simulation
    state, model = simulation.state, simulation.model
    q, qd = state.joint_q.numpy().reshape(3, 15), state.joint_qd.numpy().reshape(3, 14)
    q[:], qd[:] = random.uniform(-1.0, 1.0, q.shape), random.normal(size=qd.shape)
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    state.joint_q.assign(q)
    state.joint_qd.assign(qd)
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    task = simulation.task
    task.episodes.action.assign(random.normal(size=(3, 8)).astype(np.float32))
    task.episodes.last_action.assign(random.normal(size=(3, 8)).astype(np.float32))
    simulation.actuators["legs"].applied_effort.assign(random.normal(size=(3, 8)).astype(np.float32))
    task.episodes.terminated.assign([True, False, False])
    return ants


@pytest.fixture
def bodies(terms):
    """The positions, rotation matrices and velocities of all bodies, as NumPy computes them, by name."""
    state, model = terms.simulation.state, terms.simulation.model
    q, qd = state.body_q.numpy().reshape(3, 9, 7), state.body_qd.numpy().reshape(3, 9, 6)
    x, y, z, w = np.moveaxis(q[..., 3:], -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return {
        "p": q[..., :3],
        "quaternion": q[..., 3:],
        "R": np.moveaxis(np.array(rows), (0, 1), (-2, -1)),
        "v": qd[..., :3],
        "w": qd[..., 3:],
        "com": model.body_com.numpy().reshape(3, 9, 3),
    }
