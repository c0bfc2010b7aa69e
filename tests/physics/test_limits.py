"""Joints that run onto their limits, against the integrated formula of a spring and a damper."""

from __future__ import annotations

import functools

import newton
import numpy as np
import pytest
import warp as wp

DT, DURATION, SPEED = 0.0005, 0.06, 1.0
KE, KD, LENGTH, INERTIA = 2e4, 60.0, 0.2, 0.01

pytestmark = pytest.mark.simulation(dt=DT, gravity=0.0)

SOLVERS = {
    "mujoco": ({}, 0.03, False),
    "mujoco-native": ({}, 0.03, False),
    "featherstone": ({}, 0.01, True),
    "semi-implicit": ({}, 0.01, True),
    "vbd": ({}, 0.1, True),  # implicit Euler damps
    "kamino": ({"constraints": {"limit_compliance": True}}, 0.06, True),
}
"""Options, the tolerance of depth and rebound, and whether a limit also pulls a joint that leaves it."""

MECHANISMS = {
    "light slider": (1.0, 1.0),
    "heavy slider": (4.0, 1.0),
    "hinge": (INERTIA, INERTIA),
    "crank": (INERTIA + LENGTH**2 / 2, INERTIA),
}
"""Effective mass or inertia at the limit [kg, kg·m²], and the scale of stiffness and damping.

The crank hangs from a cart of its own mass. It is half as heavy again in the pose from which MuJoCo takes its weights.
"""


@functools.cache
def formula(mass, scale, pulls, kd=None):
    """Return depth and speed of the rebound of m x'' = -ke x - kd x' below zero, in steps of a microsecond."""
    place, speed, dt, deepest = 0.0, -SPEED, 1e-6, 0.0
    while place < 0.0 or speed < 0.0:
        force = -scale * KE * place - (scale * KD if kd is None else kd) * speed if place < 0.0 else 0.0
        speed += dt * (force if pulls else max(force, 0.0)) / mass
        place += dt * speed
        deepest = min(deepest, place)
    return -deepest, speed


def mechanisms(names, stiffer=1.0, damped=1.0):
    """Return mechanisms side by side; each starts at its lower limit, and moves beyond it."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for index, name in enumerate(names):
        mass, scale = MECHANISMS[name]
        place = wp.transform(wp.vec3(0.0, float(index), 1.0), wp.quat_identity())
        gains = {"limit_ke": stiffer * scale * KE, "limit_kd": damped * scale * KD}
        limit = {"limit_lower": 0.0, "limit_upper": 5.0, "armature": 0.0, **gains}
        if name.endswith("slider"):
            body = link(builder, name, mass)
            joints = [builder.add_joint_prismatic(-1, body, parent_xform=place, axis=(0.0, 0.0, 1.0), **limit)]
        elif name == "hinge":
            body = link(builder, name, 1.0)
            joints = [builder.add_joint_revolute(-1, body, parent_xform=place, axis=(0.0, 0.0, 1.0), **limit)]
        else:
            cart, body = link(builder, "cart", 1.0), link(builder, name, 1.0)
            builder.body_com[body] = wp.vec3(LENGTH, 0.0, 0.0)
            limit |= {"limit_lower": np.pi / 2, "limit_upper": 5.0}
            joints = [
                builder.add_joint_prismatic(-1, cart, parent_xform=place, axis=(1.0, 0.0, 0.0), armature=0.0),
                builder.add_joint_revolute(cart, body, axis=(0.0, 0.0, 1.0), **limit),
            ]
            builder.joint_q[-1] = np.pi / 2
        builder.joint_qd[-1] = -SPEED
        builder.add_articulation(joints, label=name)
    return builder


def link(builder, label, mass):
    inertia = wp.diag(wp.vec3(INERTIA, INERTIA, INERTIA))
    return builder.add_link(label=label, mass=mass, inertia=inertia, lock_inertia=True)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limit_pushes_by_its_stiffness_and_damping(simulate, solver):
    """The tolerances are twice the errors at a time step of a tenth of the light slider's way to its deepest point.

    The crank is left out where joints are soft: its parts move against each other meanwhile.
    """
    options, tolerance, pulls = SOLVERS[solver]
    names = [name for name in MECHANISMS if name != "crank" or solver not in ("semi-implicit", "vbd")]
    rows = []
    with simulate(mechanisms(names), solver={"type": solver, **options}) as simulation:
        views = [simulation.view.articulations(name) for name in names]
        for _ in range(round(DURATION / DT)):
            simulation.step()
            moved = [(view.get_dof_positions(), view.get_dof_velocities()) for view in views]
            rows.append([[place.numpy()[0, -1], speed.numpy()[0, -1]] for place, speed in moved])

    for name, (place, speed) in zip(names, np.array(rows).transpose(1, 2, 0), strict=True):
        depth, rebound = formula(*MECHANISMS[name], pulls)
        start = np.pi / 2 if name == "crank" else 0.0
        np.testing.assert_allclose(start - place.min(), depth, rtol=tolerance, err_msg=name)
        np.testing.assert_allclose(speed[-1], rebound, rtol=tolerance, err_msg=name)


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
def test_a_limit_that_the_step_cannot_resolve_stays_stable(simulate, solver):
    """A spring of 1e7 N/m without damping on 1 kg at 2 ms, ω dt = 6: the slider leaves as fast as it came."""
    with simulate(mechanisms(["light slider"], 500.0, 0.0), solver=solver, dt=0.002) as simulation:
        view = simulation.view.articulations("light slider")
        simulation.step(10)
        speed = view.get_dof_velocities().numpy()[0, 0]

    assert 0.8 * SPEED < speed <= 1.0001 * SPEED


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
def test_a_limit_follows_gains_and_masses_that_change_in_one_world(simulate, solver):
    with simulate(mechanisms(["light slider"]), worlds=2, solver=solver) as simulation:
        view = simulation.view.articulations("light slider")
        view.set_masses(np.full((2, 1), 4.0, dtype=np.float32), indices=[1])
        view.set_attribute("joint_limit_ke", np.full((2, 1), KE / 4, dtype=np.float32), indices=[0])
        places = []
        for _ in range(round(DURATION / DT)):
            simulation.step()
            places.append(view.get_dof_positions().numpy()[:, 0].copy())

    depths = -np.min(places, axis=0)
    expected = [formula(1.0, 0.25, False, KD)[0], formula(4.0, 1.0, False)[0]]
    np.testing.assert_allclose(depths, expected, rtol=0.03)
