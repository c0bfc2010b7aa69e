"""MuJoCo's C engine beside MuJoCo Warp: the same scene with the same options moves alike.

The two compute in double and in single precision, so the tolerances, stated per robot, are those of float32: 1e-6 for
joints near zero, 1e-4 for a pose some metres away that Warp rounds in every step: two to a hundred times what is seen.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pippin
import pytest
import warp as wp

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ANT = {
    "path": "pkg:newton/examples/assets/nv_ant.xml",
    "ignore": ["floor"],
    "joint_positions": {"ankle_[14]": 1.0, "ankle_[23]": -1.0},
}
LEGS = {"legs": {"type": "pd", "joints": [".*hip.*", ".*ankle.*"], "kp": 40.0, "kd": 1.5}}
STEPS = 100


def moved_by(name, configure, prototype, solver, **tables):
    """Return joint coordinates, joint velocities and body velocities after 100 steps."""
    with pippin.Simulation(configure({"type": name, **solver}, **tables), prototype=prototype) as simulation:
        simulation.step(STEPS)
        simulation.raise_errors()
        state = simulation.state
        return [array.numpy().copy() for array in (state.joint_q, state.joint_qd, state.body_qd)]


def assert_alike(configure, prototype=None, *, position, velocity, solver=None, **tables):
    """Compare both solvers to the given tolerances [m, rad] and [m/s, rad/s]."""
    native, warp = (
        moved_by(name, configure, prototype, solver or {}, **tables) for name in ("mujoco-native", "mujoco")
    )
    for ours, theirs, tolerance in zip(native, warp, (position, velocity, velocity), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=tolerance)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_an_ant_lands_and_stands_alike(configure, cone):
    scene = {"worlds": 3, "ground": True, "assets": [ANT]}
    assert_alike(
        configure,
        scene=scene,
        actuators=LEGS,
        dt=0.005,
        substeps=2,
        solver={"cone": cone},
        position=1e-6,
        velocity=1e-5,
    )


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("integrator", ["euler", "implicitfast", "rk4"])
def test_a_chain_under_control_swings_alike(configure, chain, pd, integrator):
    options = {"solver": {"integrator": integrator}, "actuators": pd, "scene": {"worlds": 3}}
    assert_alike(configure, chain(5, 0.2, 0.8), dt=0.005, position=1e-6, velocity=1e-5, **options)


def test_a_free_body_tumbles_alike(configure):
    """Off-centre mass, spin about no principal axis, anchors turned against body and world."""
    assert_alike(configure, tumbler(), scene={"worlds": 2}, position=1e-4, velocity=1e-4)


def test_slides_and_a_ball_move_alike(configure):
    """A carriage on two slides in one joint, and a body hung from it by a ball joint with a turned anchor."""
    assert_alike(configure, carriage(), scene={"worlds": 2}, position=2e-5, velocity=2e-4)


def test_forces_from_outside_act_alike(configure):
    class Pusher:
        @pippin.hookimpl
        def bind(self, simulation):
            simulation.control.joint_f.assign(np.tile(np.float32([0.5, -0.2, 0.3, 0.05, 0.02, -0.04]), 2))

        @pippin.hookimpl
        def before_substep(self, state):
            state.body_f.fill_(wp.spatial_vector(0.3, 0.0, 1.0, 0.0, 0.1, 0.0))

    found = []
    for solver in ("mujoco-native", "mujoco"):
        config = configure(solver, scene={"worlds": 2})
        with pippin.Simulation(config, plugins=[Pusher()], prototype=tumbler()) as simulation:
            simulation.step(STEPS)
            found.append(simulation.state.joint_q.numpy().copy())

    np.testing.assert_allclose(found[0], found[1], atol=1e-4)


def test_accelerations_of_both_are_alike(configure, chain):

    class Accelerometer:
        observables = frozenset({"body_qdd"})

        @pippin.hookimpl
        def update_sensors(self, observables):
            wp.copy(self.acceleration, observables.body_qdd)

        @pippin.hookimpl
        def bind(self, simulation):
            self.acceleration = wp.zeros(simulation.model.body_count, dtype=wp.spatial_vector, device="cpu")

    found = []
    for solver in ("mujoco-native", "mujoco"):
        sensor = Accelerometer()
        with pippin.Simulation(configure(solver, dt=0.001), plugins=[sensor], prototype=chain(2)) as simulation:
            simulation.step(50)
            found.append(sensor.acceleration.numpy().copy())

    np.testing.assert_allclose(found[0], found[1], atol=0.05)


@pytest.mark.slow
def test_the_ant_of_the_examples_runs_with_another_word_for_the_solver():
    """At rest its feet carry its weight, and an IMU reads gravity."""
    config = pippin.load(EXAMPLES / "ant.toml", {"solver.type": "mujoco-native", "scene.worlds": 2})
    with pippin.Simulation(config) as simulation:
        simulation.step(100)
        simulation.raise_errors()

        felt = simulation.sensors["torso"].outputs["linear_acceleration"].data.numpy()
        np.testing.assert_allclose(np.linalg.norm(felt, axis=-1), 9.81, atol=0.05)
        carried = simulation.sensors["feet"].outputs["net_force"].data.numpy()[..., 2].sum(axis=1)
        weights = simulation.model.body_mass.numpy().reshape(2, -1).sum(axis=1) * 9.81
        np.testing.assert_allclose(carried, weights, rtol=0.02)


def free_link(builder, label):
    return builder.add_link(label=label, mass=2.0, inertia=wp.diag(wp.vec3(0.15, 0.2, 0.3)))


def builder_with_attributes():
    import newton

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    return builder


def tumbler():
    builder = builder_with_attributes()
    body = free_link(builder, "tumbler")
    builder.body_com[body] = wp.vec3(0.1, -0.2, 0.3)
    turned = wp.quat_from_axis_angle(wp.normalize(wp.vec3(1.0, 2.0, 3.0)), 0.7)
    parent, child = wp.transform((0.3, 0.2, 0.1), turned), wp.transform((0.0, 0.4, 0.0), wp.quat_inverse(turned))
    builder.add_articulation([builder.add_joint_free(body, parent_xform=parent, child_xform=child, label="free")])
    builder.joint_q[:] = [0.0, 0.0, 3.0, 0.5, 0.5, 0.5, 0.5]
    builder.joint_qd[:] = [0.5, -0.3, 1.0, 2.0, -1.0, 3.0]
    return builder


def carriage():
    import newton

    builder = builder_with_attributes()
    base, load = free_link(builder, "base"), free_link(builder, "load")
    builder.body_com[load] = wp.vec3(0.05, 0.0, -0.3)
    axes = [newton.ModelBuilder.JointDofConfig(axis=axis, armature=0.1) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))]
    slides = builder.add_joint_d6(-1, base, linear_axes=axes, label="slides")
    turned = wp.transform((0.0, 0.0, 0.1), wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), 0.6))
    ball = builder.add_joint_ball(base, load, child_xform=turned, label="ball")
    builder.add_articulation([slides, ball], label="carriage")
    builder.joint_qd[:] = [0.3, -0.2, 1.0, 2.0, -0.5]
    return builder
