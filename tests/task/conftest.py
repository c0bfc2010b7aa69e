"""Ants in states drawn at random, and terms measured in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.config import ComponentConfig
from pippin.task import Command, Termination
from pippin.task.place import TaskPlace

ANT = Path(__file__).parents[2] / "docs" / "examples" / "ant.toml"


class Wish(Command):
    """A command of three numbers, drawn by hand."""

    labels = ("x", "y", "yaw")  # pyright: ignore[reportAssignmentType]
    unit = "m/s"

    def __init__(self, place: TaskPlace) -> None:
        super().__init__(None, place)
        self.value = wp.array([[0.0, 0.05, 3.0], [0.5, 0.0, 0.0], [-1.0, 0.5, 0.2]], dtype=float, device="cpu")

    def resample(self, world_mask: wp.array[wp.bool]) -> None:
        self.value.zero_()


@attrs.define
class Terms:
    """The terms of a task over three ants."""

    simulation: pippin.Simulation
    commands: Mapping[str, Command] = attrs.field(factory=dict)

    def place(self, name: str = "rewards.tried") -> TaskPlace:
        task = self.simulation.task
        assert task is not None
        return TaskPlace(self.simulation, task.worlds, name, [], self.commands)

    def choose(self, kind: Any, type: str, **keys: Any) -> ComponentConfig:
        plugin: Any = self.simulation.catalog.find(kind, type).load()
        return ComponentConfig(type=type, config=plugin.Config(**keys))

    def make(self, kind: Any, type: str, **keys: Any) -> Any:
        """Return a term; `of` is the name of a quantity, or a table."""
        if isinstance(of := keys.get("of"), str | dict):
            table = {"type": of} if isinstance(of, str) else of
            keys["of"] = self.choose("quantity", **table)
        if kind == "reward":
            keys.setdefault("weight", 1.0)
        plugin: Any = self.simulation.catalog.find(kind, type).load()
        return plugin(plugin.Config(**keys), self.place())

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
        for measured in term.place._measured:
            measured.quantity.measure(self.simulation.state, measured.values)
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
        terms.commands = {"wish": Wish(terms.place("commands.wish"))}
        yield terms


@pytest.fixture
def terms(ants):
    """The ants in a state drawn at random, with bodies where their joints have them."""
    random, simulation = np.random.default_rng(7), ants.simulation
    state, model = simulation.state, simulation.model
    q, qd = state.joint_q.numpy().reshape(3, 15), state.joint_qd.numpy().reshape(3, 14)
    q[:], qd[:] = random.uniform(-1.0, 1.0, q.shape), random.normal(size=qd.shape)
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    task = simulation.task
    task.worlds.action.assign(random.normal(size=(3, 8)).astype(np.float32))
    task.worlds.last_action.assign(random.normal(size=(3, 8)).astype(np.float32))
    simulation.actuators["legs"].applied_effort.assign(random.normal(size=(3, 8)).astype(np.float32))
    task.worlds.terminated.assign([True, False, False])
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
