"""Robots that the tests of views share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def walker() -> Callable[..., Any]:
    """Return a function that builds a walker with two legs of a hinge and a slider, an arm on a wall, and a ball."""
    import newton
    import warp as wp

    def build() -> newton.ModelBuilder:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)

        def link(label: str, mass: float) -> int:
            inertia = mass * wp.mat33(0.03, 0.002, 0.0, 0.002, 0.04, 0.001, 0.0, 0.001, 0.05)
            return builder.add_link(label=label, mass=mass, inertia=inertia, com=wp.vec3(0.02, 0.0, -0.1))

        drive = {"armature": 0.02, "target_ke": 3.0, "target_kd": 0.3, "limit_lower": -2.0, "limit_upper": 2.0}
        base = link("base", 4.0)
        joints = [builder.add_joint_free(base, label="root")]
        builder.joint_q[-7:] = [0.1, 0.2, 1.5, 0.0, 0.0, 0.6, 0.8]
        builder.joint_qd[-6:] = [0.3, 0.0, 0.1, 0.2, 0.4, -0.1]
        below = wp.transform(wp.vec3(0.1, 0.0, -0.3), wp.quat_identity())
        for side, start in (("left", 0.2), ("right", -0.3)):
            thigh, shin = link(f"{side}_thigh", 1.0), link(f"{side}_shin", 0.5)
            axis = {"axis": (0.0, 1.0, 0.0), **drive}
            joints.append(builder.add_joint_revolute(base, thigh, parent_xform=below, label=f"{side}_hip", **axis))
            builder.joint_q[-1], builder.joint_qd[-1] = start, 0.5
            axis["axis"] = (0.0, 0.0, 1.0)
            joints.append(builder.add_joint_prismatic(thigh, shin, parent_xform=below, label=f"{side}_knee", **axis))
            builder.joint_q[-1] = 0.05
        builder.add_articulation(joints, label="walker")
        upper, lower = link("upper", 1.0), link("lower", 0.5)
        wall = wp.transform(wp.vec3(3.0, 0.0, 1.0), wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), 0.5))
        axis = {"axis": (0.0, 1.0, 0.0), **drive}
        arm = [builder.add_joint_revolute(-1, upper, parent_xform=wall, label="shoulder", **axis)]
        arm.append(builder.add_joint_revolute(upper, lower, parent_xform=below, label="elbow", **axis))
        builder.joint_q[-2:] = [0.3, 0.4]
        builder.add_articulation(arm, label="arm")
        ball = link("ball", 2.0)
        builder.add_articulation([builder.add_joint_free(ball, label="ball_root")], label="ball")
        builder.joint_q[-7:] = [0.0, -3.0, 2.0, 0.0, 0.0, 0.0, 1.0]
        return builder

    return build


@pytest.fixture(scope="session")
def build() -> Callable[..., Any]:
    """Return a function from solver, prototype and world count to a simulation, by default on the CPU."""
    import pippin

    def simulate(solver: Any, prototype: Any, worlds: int, **options: Any) -> pippin.Simulation:
        tables = {
            "simulation": {
                "device": "cpu",
                "dt": 0.002,
                "accept_unsupported": ["armature", "velocity_limits"],
                **options,
            },
            "scene": {"worlds": worlds, "settable_joints": True},
            "solver": {"type": solver} if isinstance(solver, str) else solver,
        }
        return pippin.Simulation(pippin.structure(tables), prototype=prototype)

    return simulate
