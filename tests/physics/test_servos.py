"""Servos with the solvers that take efforts: their gains, their friction, and what is refused."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

SOLVERS = ["featherstone", "mujoco", "mujoco-native", "steel", "kamino"]

INERTIA = 1e-5  # of a shaft [kg·m²], so that the servo is all that turns


def shaft():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    link = builder.add_link(mass=0.1, inertia=wp.diag(wp.vec3(INERTIA)))
    joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label="shaft", armature=0.0)
    builder.add_articulation([joint])
    return builder


def arm():
    """Two links that gravity pulls down with 1.37 and 0.29 N·m, horizontal at first."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    upper = builder.add_link(mass=0.5, com=wp.vec3(0.1, 0.0, 0.0), inertia=wp.diag(wp.vec3(1e-3)))
    lower = builder.add_link(mass=0.3, com=wp.vec3(0.1, 0.0, 0.0), inertia=wp.diag(wp.vec3(1e-3)))
    end = wp.transform(wp.vec3(0.2, 0.0, 0.0), wp.quat_identity())
    shoulder = builder.add_joint_revolute(-1, upper, axis=(0.0, 1.0, 0.0), label="shoulder", armature=0.0)
    elbow = builder.add_joint_revolute(
        upper, lower, axis=(0.0, 1.0, 0.0), parent_xform=end, label="elbow", armature=0.0
    )
    builder.add_articulation([shoulder, elbow])
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.005,
    prototype=arm,
    actuators={"servos": {"type": "servo", "joints": [".*"], "model": "mx64"}},
    options="actuators.servos",
)


def rest(simulate, solver, dt):
    """Return the speed of a shaft three seconds after its target has moved by 1 rad [rad/s]."""
    with simulate(shaft, solver=solver, gravity=0.0, dt=dt) as simulation:
        simulation.actuators["servos"].position_targets.fill_(1.0)
        simulation.step(round(3.0 / dt))
        return abs(float(simulation.state.joint_qd.numpy()[0]))


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_stiffest_servo_comes_to_rest_up_to_its_longest_step(simulate, solver):
    """An MX-64 with kp = 32 has a stiffness of 52 N·m/rad on 0.012 kg·m²: 16 ms is the end for an explicit step."""
    assert rest(simulate, solver, 0.015) < 1e-4


def test_beyond_its_longest_step_it_does_not(simulate):
    assert rest(simulate, "featherstone", 0.024) > 1.0


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", SOLVERS)
def test_friction_above_the_load_holds_a_robot_still(simulate, solver):
    """Joints whose dry friction is above gravity's torque move by less than 1e-4 rad in three seconds."""
    friction = {"type": "m1", "kc": {"shoulder": 1.5, "elbow": 0.4}, "kv": 0.01}
    with simulate(solver=solver, kp=0.0, friction=friction, armature=0.002) as simulation:
        simulation.step(600)

        assert np.abs(simulation.state.joint_q.numpy()).max() < 1e-4


def test_each_world_has_its_own_constants(simulate):
    """At full duty, the no-load speed is (kt V d / R - kc) / (kt² / R + kv), with each world's kt."""
    friction = {"type": "m1", "kc": 0.1, "kv": 0.02}
    constants = np.array([[1.2], [1.9]])
    options = {"resistance": 3.0, "voltage": 12.0, "max_duty": 0.9, "friction": friction}
    with simulate(shaft, solver="mujoco", gravity=0.0, worlds=2, **options) as simulation:
        group = simulation.actuators["servos"]
        group.set("kt", constants)
        group.position_targets.fill_(1e4)
        simulation.step(400)

        speeds = (constants * 12.0 * 0.9 / 3.0 - 0.1) / (constants**2 / 3.0 + 0.02)
        np.testing.assert_allclose(simulation.state.joint_qd.numpy(), speeds.ravel(), rtol=1e-3)


def test_friction_without_the_armature_that_it_needs_is_refused(simulate):
    with pytest.raises(pippin.ConfigError, match=r"friction: it is solved with the armature.*'xpbd' leaves armature"):
        simulate(solver="xpbd", accept_unsupported=["armature"])


def test_friction_of_servos_replaces_that_of_the_asset(simulate):
    def worn():
        builder = arm()
        builder.joint_friction[0], builder.joint_damping[1] = 0.7, 0.3
        return builder

    with simulate(worn, solver="mujoco") as simulation:
        assert not simulation.model.joint_friction.numpy().any()
        assert not simulation.model.joint_damping.numpy().any()
        assert any("in place of the asset's" in note for note in simulation.actuators["servos"].notes)
