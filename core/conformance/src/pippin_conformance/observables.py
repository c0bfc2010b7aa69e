"""Values of observables in steps with drawn forces, gravity and masses, beside what the equations of motion ask.

A solver may move as it likes: forces are compared with the change of momentum in its own motion, so that hard and soft
contacts and joints are measured alike.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from newton import ModelBuilder
from pippin import Simulation
from pippin.arrays import on_host
from pippin.quaternions import rotated

from .mechanisms import free
from .observation import model_and_state, step
from .plugin_under_test import PluginUnderTest
from .reference import Tree
from .trees import WORLDS, add_trees, change, drawn_inputs, stated_numbers, trees_for

OBSERVABLES: Mapping[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""What the values of an observable are, which is the first word of each name."""

_SHARE, _LEAST = 0.05, 0.01
"""Largest error, in units of the largest value in a world and a step; and the least that such a value counts."""

_STEPS, _SETTLING, _FRICTION = 4, 8, 0.4
_OF_HINGES = ("hinges", "drives")
_TREES = (*_OF_HINGES, "a fixed body between hinges", "a free body with a hinge")
_BRICKS = {"lone": (3.0, 0.2), "low": (5.0, 0.2), "high": (5.0, 0.6)}
"""Where bricks lie, along y and above the ground [m]."""

_LEVER = np.array([0.2, 0.2, 0.0])
"""The way to the centre of a brick from the point about which its torques count, without that of friction [m]."""

Pair = tuple[np.ndarray, np.ndarray]
"""Numbers as found and as they should be, the same count for each world."""


def errors_of_observables(subject: PluginUnderTest) -> dict[str, str]:
    """Return what is wrong with each value, empty for a right one; none of observables that no scene shows."""
    features = subject.features or {}
    kinds = (subject.declaration.supported_observables or frozenset()) & {name.split()[0] for name in OBSERVABLES}
    names = [name for name in _TREES if name in trees_for(features)]
    bricks = _BRICKS if {"rigid_contacts", "free_joints"} <= features.keys() else {}
    if not kinds or not names:
        return {}

    def scene(builder: ModelBuilder) -> None:
        add_trees(names, builder)
        if names[0] == "hinges" and "joint_friction" in features:
            builder.joint_friction[:3] = [_FRICTION] * 3
        for label, (y, z) in bricks.items():
            body = free(builder, label, y, z=z, turn=wp.quat(0.5, 0.5, 0.5, 0.5), com=(-0.03, 0.05, -0.04))
            builder.add_shape_box(body, hx=0.2, hy=0.2, hz=0.2, cfg=ModelBuilder.ShapeConfig(density=0.0))

    found = dict[str, str]()
    with subject.build(count=1, scene=scene, world_count=WORLDS, observables=kinds) as simulation:
        trees = {name: Tree(simulation.model, index) for index, name in enumerate(names)}
        stated = stated_numbers(simulation.model)
        for number in range(1, 1 + _SETTLING + _STEPS):
            inputs = drawn_inputs(simulation.model, stated, number, features)
            change(simulation, inputs, features)
            this = _MeasuredStep(simulation, trees, inputs)
            for name, pairs in this.values(kinds) if number > _SETTLING else ():
                found[name] = found.get(name) or _error(pairs)
    return found


class _MeasuredStep:
    """A step with drawn forces and targets of drives, and the values of each observable in it."""

    def __init__(self, simulation: Simulation, trees: Mapping[str, Tree], inputs: dict[str, Any]) -> None:
        self._model, self._state = model_and_state(simulation)
        self._simulation, self._trees, self._inputs = simulation, trees, inputs
        self._labels = np.array([label.partition("/")[0] for label in self._model.body_label])
        self._state.body_f.assign(inputs["body_f"])
        for name in ("joint_target_q", "joint_target_qd"):
            getattr(simulation.control, name).assign(inputs[name])
        (self._q, self._qd), momenta, speeds = self._read()
        step(simulation, 1)
        (_, qd), after, after_speeds = self._read()
        self._accelerations, self._qdd = (after_speeds - speeds) / simulation.dt, (qd - self._qd) / simulation.dt
        # What changes the momentum of each body beside gravity and pushes [N, N·m].
        self._lacking = (after - momenta) / simulation.dt - inputs["body_f"]
        gravity = on_host(self._model.gravity)[on_host(self._model.body_world)]
        self._lacking[:, :3] -= on_host(self._model.body_mass)[:, None] * gravity

    def _read(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return coordinates of joints, momenta of bodies about their centres of mass, and velocities."""
        names = ("joint_q", "joint_qd", "body_q", "body_qd")
        q, qd, poses, speeds = (on_host(getattr(self._state, name)).astype(float) for name in names)
        self._poses = poses
        self._centres = poses[:, :3] + rotated(poses[:, 3:], on_host(self._model.body_com).astype(float))
        axes = rotated(poses[:, None, 3:], np.eye(3))
        angular = np.einsum("bki,bkl,blj,bj->bi", axes, on_host(self._model.body_inertia), axes, speeds[:, 3:])
        return (q, qd), np.hstack([on_host(self._model.body_mass)[:, None] * speeds[:, :3], angular]), speeds

    def values(self, kinds: Collection[str]) -> Iterator[tuple[str, list[Pair]]]:
        """Yield the pairs of each name."""
        for kind in kinds:
            given = getattr(self._simulation.observables, kind).numpy().astype(float)
            if kind == "contact_f":
                yield from self._of_contacts(given)
            elif kind == "body_parent_f":
                yield kind, self._of_links(given)
            elif kind == "body_qdd":
                yield kind, [(given, self._accelerations)]
            else:
                yield kind, list(self._of_joints(kind, given))

    def _of_contacts(self, given: np.ndarray) -> Iterator[tuple[str, list[Pair]]]:
        contacts: Any = self._simulation.contacts
        net, wanted = np.zeros((len(self._labels) + 1, 6)), self._lacking.copy()  # the last row is the world's
        wanted[:, 3:] += np.cross(_LEVER, wanted[:, :3])
        poses, centres = (np.vstack([rows, 0.0 * rows[:1]]) for rows in (self._poses, self._centres))
        for sign, side in ((1.0, "0"), (-1.0, "1")):
            used = slice(int(contacts.rigid_contact_count.numpy()[0]))
            shapes, points = (
                getattr(contacts, f"rigid_contact_{name}{side}").numpy()[used] for name in ("shape", "point")
            )
            bodies, forces = on_host(self._model.shape_body)[shapes], sign * given[used, :3]
            arms = poses[bodies, :3] + rotated(poses[bodies, 3:], points.astype(float)) - centres[bodies] + _LEVER
            np.add.at(net, bodies, np.hstack([forces, np.cross(arms, forces)]))
        for name, labels in (("contact_f", ["lone"]), ("contact_f of stacks", ["low", "high"])):
            if (rows := np.isin(self._labels, labels)).any():
                yield name, [(net[:-1][rows, part], wanted[rows, part]) for part in (slice(3), slice(3, 5))]

    def _of_links(self, given: np.ndarray) -> list[Pair]:
        """Return the pairs of all forces and of all torques."""
        expected = np.zeros_like(given)
        for bodies in (tree.bodies for tree in self._trees.values()):
            for first in range(bodies.shape[1]):  # each is on the one before
                for body in bodies[:, first:].T:
                    arms = self._centres[body] - self._centres[bodies[:, first]]
                    expected[bodies[:, first]] += self._lacking[body]
                    expected[bodies[:, first], 3:] += np.cross(arms, self._lacking[body, :3])
        return [(given[:, part], expected[:, part]) for part in (slice(3), slice(3, 6))]

    def _of_joints(self, kind: str, given: np.ndarray) -> Iterator[Pair]:
        """Yield the pairs of the accelerations that a kind of MuJoCo's generalised forces makes [rad/s²]."""
        q, qd, none = self._q, self._qd, 0.0 * self._qd
        inputs = self._inputs | {"body_f": 0.0 * self._inputs["body_f"], "joint_f": none}
        passive = inputs | dict.fromkeys(("joint_target_ke", "joint_target_kd"), none)
        alone = passive | {"gravity": 0.0, "joint_f": -given if kind == "qfrc_bias" else given}
        for name in self._trees.keys() & set(_OF_HINGES):
            rates = functools.partial(self._trees[name].rates, q)
            acting = rates(qd, passive | {"body_f": self._inputs["body_f"]})[1]
            rubbed = (self._qdd - acting) * (name == "hinges")  # drives damp implicitly, and have no friction
            bias, effort = rates(qd, passive)[1], rates(qd, inputs)[1] - rates(qd, passive)[1]
            expected = {"qfrc_bias": bias, "qfrc_actuator": effort}.get(kind, rubbed)
            own = self._trees[name].own
            yield own(rates(none, alone)[1]), own(expected)


def _error(pairs: list[Pair]) -> str:
    """Return the worst number of the first wrong pair, and what it should be; empty if all are right."""
    for pair in pairs:
        found, expected = (numbers.reshape(WORLDS, -1) for numbers in pair)
        largest = np.maximum(np.abs(expected).max(axis=1), _LEAST)[:, None]
        shares = np.nan_to_num(np.abs(found - expected) / largest, nan=np.inf)
        world, number = np.unravel_index(shares.argmax(), shares.shape)
        if shares[world, number] > _SHARE:
            return f"{found[world, number]:.4g} in world {world}, expected {expected[world, number]:.4g}"
    return ""
