"""Robots and configurations that several tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOLVERS = ("mujoco", "xpbd", "featherstone", "semi-implicit", "steel", "vbd")
"""Solvers of this workspace that run rigid robots."""


@pytest.fixture(params=SOLVERS)
def solver(request: pytest.FixtureRequest) -> str:
    """Each rigid-body solver in turn."""
    return request.param


@pytest.fixture
def examples() -> Path:
    """Return the folder of the example files."""
    return Path(__file__).parents[1] / "docs" / "examples"


@pytest.fixture
def chain() -> Callable[..., Any]:
    """Return a function that builds a chain of links, hinged about y, hanging from the world at the origin."""
    import newton
    import warp as wp

    def build(link_count: int = 2, length: float = 0.5, angle: float = 0.3) -> newton.ModelBuilder:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        parent, joints = -1, []
        for index in range(link_count):
            body = builder.add_link(label=f"link_{index}", mass=1.0, inertia=wp.diag(wp.vec3(0.02, 0.02, 0.02)))
            above = wp.transform(wp.vec3(0.0, 0.0, 0.0 if parent < 0 else -length), wp.quat_identity())
            joints.append(
                builder.add_joint_revolute(
                    parent,
                    body,
                    parent_xform=above,
                    child_xform=wp.transform_identity(),
                    axis=(0.0, 1.0, 0.0),
                    label=f"hinge_{index}",
                    armature=0.01,
                )
            )
            builder.body_com[body] = wp.vec3(0.0, 0.0, -length)
            parent = body
        builder.add_articulation(joints, label="chain")
        builder.joint_q[0] = angle
        return builder

    return build


@pytest.fixture
def ball() -> Callable[..., Any]:
    """Return a function that builds a free sphere, its centre at `height` above the origin."""
    import newton
    import warp as wp

    def build(mass: float = 1.0, radius: float = 0.1, height: float = 5.0) -> newton.ModelBuilder:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        inertia = wp.diag(wp.vec3(0.4 * mass * radius**2))
        pose = wp.transform(wp.vec3(0.0, 0.0, height), wp.quat_identity())
        body = builder.add_link(label="ball", mass=mass, inertia=inertia, xform=pose)
        massless = newton.ModelBuilder.ShapeConfig(density=0.0)
        builder.add_shape_sphere(body, radius=radius, cfg=massless, label="skin")
        builder.add_articulation([builder.add_joint_free(body, label="free")], label="ball")
        return builder

    return build


@pytest.fixture
def configure() -> Callable[..., Any]:
    """Return a function from keyword arguments of the tables to a configuration: `configure("xpbd", dt=0.002)`."""
    import orchard

    def build(
        solver: str | dict[str, Any] | None = "semi-implicit",
        *,
        scene: dict[str, Any] | None = None,
        actuators: dict[str, Any] | None = None,
        sensors: dict[str, Any] | None = None,
        collision: dict[str, Any] | None = None,
        **simulation: Any,
    ) -> orchard.SimulationConfig:
        tables: dict[str, Any] = {
            # The robots here have armature, so that every solver that knows it meets it.
            "simulation": {"device": "cpu", "dt": 0.002, "accept_unsupported": ["armature"], **simulation},
            "scene": scene or {},
            "solver": {"type": solver} if isinstance(solver, str) else solver,
            "collision": collision or {},
            "actuators": actuators or {},
            "sensors": sensors or {},
        }
        return orchard.structure(tables)

    return build


PD = {"type": "pd", "joints": [".*"], "kp": 20.0, "kd": 1.0}


@pytest.fixture
def pd() -> dict[str, Any]:
    """PD control of every joint, with a delay of three physics steps: an actuator that carries state."""
    return {"legs": {**PD, "delay": {"steps": 3}, "clamping": [{"type": "max-effort", "max_effort": 5.0}]}}
