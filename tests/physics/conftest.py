"""Laboratory: experiments side by side in one scene, run once for each solver and recorded step by step."""

from __future__ import annotations

import functools
import importlib.util
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import pytest
import warp as wp

ROWS = tomllib.loads(Path(__file__).with_name("checks.toml").read_text(encoding="utf-8"))

LABORATORY = tomllib.loads(Path(__file__).with_name("laboratory.toml").read_text(encoding="utf-8"))

SLOPE = np.arctan(LABORATORY["worlds"]["slope"])

GRAVITIES = {
    "upright": LABORATORY["worlds"]["gravity"] * np.array([0.0, 0.0, -1.0]),
    "tilted": LABORATORY["worlds"]["gravity"] * np.array([np.sin(SLOPE), 0.0, -np.cos(SLOPE)]),
    "weightless": np.zeros(3),
}
"""Gravity of each world [m/s²]; all worlds have the same content."""


@attrs.frozen(eq=False)
class Motion:
    """Motion of one body in one world."""

    time: np.ndarray
    """Time since the start [s], shape [step_count + 1]."""

    position: np.ndarray
    """Position of the body's origin [m], shape [step_count + 1, 3]."""

    rotation: np.ndarray
    """Unit quaternion (x, y, z, w), shape [step_count + 1, 4]."""

    velocity: np.ndarray
    """Velocity of the centre of mass [m/s], shape [step_count + 1, 3]."""

    angular_velocity: np.ndarray
    """Angular velocity along the axes of the world [rad/s], shape [step_count + 1, 3]."""

    def at(self, time: float) -> int:
        """Return the step at a time [s]."""
        return int(np.searchsorted(self.time, time - 1e-9))

    def into_world(self, vector: np.ndarray) -> np.ndarray:
        """Rotate a vector, or one vector per step, from the body's frame into the world's frame."""
        axis, real = self.rotation[:, :3], self.rotation[:, 3:]
        return vector + 2 * np.cross(axis, np.cross(axis, vector) + real * vector)

    def into_body(self, vector: np.ndarray) -> np.ndarray:
        """Rotate one vector per step from the world's frame into the body's frame."""
        conjugate = attrs.evolve(self, rotation=self.rotation * [-1.0, -1.0, -1.0, 1.0])
        return conjugate.into_world(vector)

    @property
    def angle(self) -> np.ndarray:
        """Angle about y from the frame of the world [rad], shape [step_count + 1]."""
        return np.unwrap(2 * np.arctan2(self.rotation[:, 1], self.rotation[:, 3]))


@attrs.frozen(eq=False)
class Recording:
    """Motion of every body of the laboratory with one solver."""

    substep: float
    """Length of a substep [s]."""

    motions: Mapping[tuple[str, str], Motion]
    """Motions by world and body."""

    def __getitem__(self, place: tuple[str, str]) -> Motion:
        return self.motions[place]


def free_body(builder: newton.ModelBuilder, label: str, position: Any, **mass: Any) -> int:
    """Add a body that is free to move, and return it."""
    body = builder.add_link(label=label, xform=wp.transform(wp.vec3(*position), wp.quat_identity()), **mass)
    builder.add_articulation([builder.add_joint_free(body)], label=label)
    return body


def give_velocity(builder: newton.ModelBuilder, linear: Any = (0.0, 0.0, 0.0), angular: Any = (0.0, 0.0, 0.0)) -> None:
    """Set the velocity [m/s, rad/s] of the free body that was added last."""
    start = builder.joint_qd_start[-1]
    builder.joint_qd[start : start + 6] = [*linear, *angular]


def add_top(builder: newton.ModelBuilder, y: float) -> None:
    """Add a symmetric top that tumbles and touches nothing."""
    top = LABORATORY["top"]
    free_body(builder, "top", (0.0, y, 0.0), mass=top["mass"], inertia=wp.diag(wp.vec3(*top["inertia"])))
    give_velocity(builder, angular=top["angular_velocity"])


def add_spheres(builder: newton.ModelBuilder, y: float) -> None:
    """Add two spheres that move towards a head-on collision."""
    spheres = LABORATORY["spheres"]
    radius = spheres["radius"]
    shape = newton.ModelBuilder.ShapeConfig(
        density=0.0, mu=0.1, restitution=spheres["restitution"], **LABORATORY["contact"]
    )
    pairs = zip(("left", "right"), (-1, 1), spheres["masses"], spheres["velocities"], strict=True)
    for label, side, mass, velocity in pairs:
        x = side * (radius + spheres["gap"] / 2)
        inertia = wp.diag(wp.vec3(0.4 * mass * radius**2))
        body = free_body(builder, label, (x, y, 0.0), mass=mass, inertia=inertia)
        builder.add_shape_sphere(body, radius=radius, cfg=shape)
        give_velocity(builder, linear=(velocity, 0.0, 0.0))


def add_pendulum(builder: newton.ModelBuilder, label: str, y: float) -> None:
    """Add a pendulum that hangs from a hinge about y, at the angle given by its label."""
    pendulum = LABORATORY["pendulum"]
    body = builder.add_link(label=label, mass=pendulum["mass"], inertia=wp.diag(wp.vec3(pendulum["inertia"])))
    builder.body_com[body] = wp.vec3(0.0, 0.0, -pendulum["length"])
    pivot = wp.transform(wp.vec3(0.0, y, 0.0), wp.quat_identity())
    hinge = builder.add_joint_revolute(-1, body, parent_xform=pivot, axis=(0.0, 1.0, 0.0))
    builder.add_articulation([hinge], label=label)
    builder.joint_q[builder.joint_q_start[-1]] = pendulum[label]


def add_boxes(builder: newton.ModelBuilder, labels: tuple[str, ...], y: float, friction: str) -> None:
    """Add boxes on top of each other, on a plate of their own with the same friction: solvers mix two differently."""
    box = LABORATORY["box"]
    half = box["side"] / 2
    shape = newton.ModelBuilder.ShapeConfig(density=box["density"], mu=box[friction], **LABORATORY["contact"])
    under = wp.transform(wp.vec3(0.5, y, -0.1), wp.quat_identity())
    builder.add_shape_box(-1, xform=under, hx=1.5, hy=0.25, hz=0.1, cfg=shape)
    for index, label in enumerate(labels):
        body = free_body(builder, label, (0.0, y, half * (2 * index + 1)))
        builder.add_shape_box(body, hx=half, hy=half, hz=half, cfg=shape)


def laboratory(register: Callable[[newton.ModelBuilder], None]) -> newton.ModelBuilder:
    """Return one world with every experiment, side by side along y."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    register(builder)
    add_boxes(builder, ("lowest", "middle", "highest"), 0.0, "rough")
    add_boxes(builder, ("rough",), 0.6, "rough")
    add_boxes(builder, ("smooth",), -0.6, "smooth")
    add_pendulum(builder, "small", 1.0)
    add_pendulum(builder, "large", -1.0)
    add_spheres(builder, 1.5)
    add_top(builder, -1.5)
    return builder


def environment_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment of an engine of others, if it has one; the test is skipped if the engine is not there."""
    engine = row.get("engine", "")
    if engine.isupper():
        folder = os.environ.get(engine) or pytest.skip(f"{engine} names no environment with this engine")
        return {"environment": folder}
    if engine and importlib.util.find_spec(engine) is None:
        pytest.skip(f"{engine} is not installed")
    return {}


def build(solver: str) -> pippin.Simulation:
    """Return the three worlds with one solver, with the options of its table."""
    row = ROWS[solver]
    tables = {
        "simulation": {
            "device": "cpu",
            "dt": row["dt"],
            "substeps": row.get("substeps", 1),
            "accept_unsupported": ["contact_stiffness", "restitution"],  # each solver reads its own of the two
        },
        "scene": {"worlds": len(GRAVITIES)},
        "solver": {"type": solver, **row.get("options", {}), **environment_of(row)},
    }
    register = getattr(newton.solvers, row["newton"]).register_custom_attributes
    simulation = pippin.Simulation(pippin.structure(tables), prototype=laboratory(register))
    simulation.model.gravity.assign(np.array([*GRAVITIES.values(), GRAVITIES["upright"]], dtype=np.float32))
    simulation.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
    return simulation


def observe(simulation: pippin.Simulation, step_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Step, and return poses and velocities of every body, shape [step_count + 1, world_count, body_count, 7 or 6]."""
    poses, velocities = [], []
    for step in range(step_count + 1):
        simulation.step(min(step, 1))
        poses.append(simulation.state.body_q.numpy().copy())
        velocities.append(simulation.state.body_qd.numpy().copy())
    simulation.raise_errors()
    shape = (step_count + 1, simulation.world_count, simulation.model.body_count // simulation.world_count, -1)
    return np.array(poses, dtype=float).reshape(shape), np.array(velocities, dtype=float).reshape(shape)


def run_laboratory(solver: str) -> Recording:
    """Simulate the laboratory with one solver and keep every motion."""
    dt, duration, substeps = ROWS[solver]["dt"], ROWS[solver]["duration"], ROWS[solver].get("substeps", 1)
    with build(solver) as simulation:
        poses, velocities = observe(simulation, round(duration / dt))
        labels = simulation.model.body_label[: poses.shape[2]]
    time = np.arange(len(poses)) * dt
    motions = {}
    for i, world in enumerate(GRAVITIES):
        for j, label in enumerate(labels):
            pose, velocity = poses[:, i, j], velocities[:, i, j]
            motions[world, label] = Motion(time, pose[:, :3], pose[:, 3:], velocity[:, :3], velocity[:, 3:])
    return Recording(dt / substeps, motions)


@pytest.fixture(scope="session")
def record() -> Callable[[str], Recording]:
    """Return a function from a solver to its recording, which is made once."""
    return functools.cache(run_laboratory)
