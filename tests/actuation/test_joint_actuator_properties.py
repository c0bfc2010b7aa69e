"""Armature, friction and damping of driven joints: drawn at a reset, set while it runs."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp


def hinges(count=2):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for index in range(count):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
        joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=f"joint_{index}", armature=0.5)
        builder.add_articulation([joint])
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.001,
    worlds=2,
    gravity=0.0,
    prototype=hinges,
    solver="mujoco-native",
    actuators={"legs": {"type": "pd", "joints": [".*"], "kp": 0.0, "kd": 0.0}},
    options="actuators.legs",
)


@pytest.mark.parametrize("kind", ["pd", "solver-pd"])
def test_an_armature_that_is_set_changes_the_acceleration(simulate, kind):
    """A torque of 1 N·m on 1 kg·m² and armature a: 1 / (1 + a) rad/s²."""
    with simulate(type=kind) as simulation:
        group = simulation.actuators["legs"]
        simulation.step()
        group.set("armature", 3.0, worlds=[1], joints="joint_1")
        group.feedforward.fill_(1.0)
        simulation.step()

        np.testing.assert_array_equal(group.get("armature").numpy(), [[0.5, 0.5], [0.5, 3.0]])
        speeds = simulation.state.joint_qd.numpy().reshape(2, 2)
        np.testing.assert_allclose(speeds, 0.001 / (1.0 + np.array([[0.5, 0.5], [0.5, 3.0]])), rtol=1e-4)


def test_a_range_of_damping_is_drawn_by_joint_and_world(simulate):
    """A viscous joint slows down by d h / (1 + a) in a step h."""
    with simulate(damping={"uniform": [10.0, 20.0]}) as simulation:
        first = simulation.actuators["legs"].get("damping").numpy().copy()
        simulation.reset([1])
        damping = simulation.actuators["legs"].get("damping").numpy().copy()
        simulation.state.joint_qd.fill_(1.0)
        simulation.invalidate("joints")
        simulation.step()
        lost = 1.0 - simulation.state.joint_qd.numpy().reshape(2, 2)

    assert ((first >= 10.0) & (first <= 20.0)).all()
    assert len(np.unique(first)) == 4
    np.testing.assert_array_equal(damping[0], first[0])
    assert (damping[1] != first[1]).all()
    np.testing.assert_allclose(lost, damping * 0.001 / 1.5, rtol=0.02)


def test_a_value_that_a_view_set_is_kept(simulate):
    with simulate() as simulation:
        group, view = simulation.actuators["legs"], simulation.view.articulations("**")
        view.set_dof_armatures(0.75)
        group.set("armature", 0.25, joints="joint_0")

        np.testing.assert_array_equal(group.get("armature").numpy(), [[0.25, 0.75]] * 2)


@pytest.mark.parametrize(
    ("solver", "name", "value", "message"),
    [
        ("featherstone", "friction", 1.0, "friction: solver 'featherstone' does not support joint_friction"),
        ("mujoco-native", "armature", -1.0, "armature: expected a finite number of at least 0"),
    ],
)
def test_what_the_solver_cannot_do_is_refused(simulate, solver, name, value, message):
    with simulate(solver=solver) as simulation, pytest.raises(pippin.ConfigError, match=message):
        simulation.actuators["legs"].set(name, value)


def test_a_property_that_the_solver_leaves_out_cannot_be_set(simulate):
    """A file may accept to lose it; a setter that changes nothing would hide that."""
    simulation = simulate(solver="featherstone", accept_unsupported=["joint_friction"])
    with simulation, pytest.raises(pippin.ConfigError, match="friction: solver 'featherstone' leaves joint_friction"):
        simulation.actuators["legs"].set("friction", 0.1)
