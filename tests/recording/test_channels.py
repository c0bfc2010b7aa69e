"""The channels of a simulation: names, labels, units, and the values of the chosen worlds."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.axes import name_axes
from pippin.recording.channels import channels


@pytest.fixture(scope="module")
def simulation(simulate):
    with simulate(None, {}) as simulation:
        simulation.step(3)
        yield simulation


def named(simulation, *arguments, **options):
    return {channel.name: channel for channel in channels(simulation, *arguments, **options)}


def test_bodies_particles_and_contacts_are_left_out_unless_asked_for(simulation):
    usual, every = named(simulation), named(simulation, series=[".*", ".*/.*"])

    assert set(every) - set(usual) == {
        "body_q",
        *(f"contacts/{name}" for name in ("count", "bodies", "point", "normal")),
    }
    assert {"joint_q", "joint_qd", "actuators/hinges/applied_effort", "sensors/imu/angular_velocity"} <= set(usual)


@pytest.mark.parametrize("worlds", [[0], [0, 1, 2, 3], [1, 3], [0, 2, 3], [3, 0]])
def test_values_are_those_of_the_chosen_worlds_in_their_order(simulation, worlds):
    found = named(simulation, worlds, [".*", ".*/.*"])
    joint_q = simulation.state.joint_q.numpy().reshape(4, -1)
    efforts = simulation.actuators["hinges"].applied_effort.numpy()
    imu = simulation.sensors["imu"].outputs["orientation"].data.numpy()

    np.testing.assert_array_equal(found["joint_q"].numpy(), joint_q[worlds])
    np.testing.assert_array_equal(found["actuators/hinges/applied_effort"].numpy(), efforts[worlds])
    np.testing.assert_array_equal(found["sensors/imu/orientation"].numpy(), imu[worlds])
    np.testing.assert_array_equal(found["body_q"].numpy(), simulation.state.body_q.numpy().reshape(4, -1, 7)[worlds])
    assert all(channel.numpy().shape == channel.shape for channel in found.values())
    assert all(channel.numpy().dtype == channel.dtype for channel in found.values())


def test_a_ball_on_the_ground_is_a_contact_below_it(simulation):
    found = named(simulation, [1, 2], ["contacts/.*"], max_contacts=2)

    assert found["contacts/count"].numpy().tolist() == [1, 1]
    bodies, normal = found["contacts/bodies"].numpy(), found["contacts/normal"].numpy()
    assert sorted(bodies[0, 0].tolist()) == [-1, 2]  # the ground and the third body of the world
    assert bodies[:, 1].tolist() == [[-1, -1]] * 2
    np.testing.assert_allclose(np.abs(normal[:, 0]), [[0, 0, 1]] * 2, atol=1e-6)
    np.testing.assert_allclose(found["contacts/point"].numpy()[:, 0], np.zeros((2, 3)), atol=1e-3)  # [m]


def test_labels_units_and_frames_are_those_of_joints_bodies_and_outputs(simulation):
    found = named(simulation, [1], [".*", ".*/.*"])

    assert found["joint_q"].labels[:2] == ("hinge_0", "hinge_1")
    assert found["joint_q"].units == ("rad", "rad", "m", "m", "m", "1", "1", "1", "1")
    assert found["joint_qd"].units[1:3] == ("rad/s", "m/s")
    assert found["body_q"].components == ("px", "py", "pz", "qx", "qy", "qz", "qw")
    assert found["body_q"].labels == tuple(simulation.model.body_label[3:6])
    rate = found["sensors/imu/angular_velocity"]
    assert (rate.units, rate.frame, rate.labels) == (
        ("rad/s",),
        "site",
        simulation.sensors["imu"].outputs["angular_velocity"].labels,
    )


def test_a_pattern_without_a_channel_names_the_nearest(simulation):
    with pytest.raises(pippin.ConfigError, match=r"series: no channel matches 'joint_p'; did you mean 'joint_q'"):
        channels(simulation, series=["joint_p"])


def test_contacts_that_the_solver_keeps_have_a_reason(configure, chain):
    with pippin.Simulation(configure("mujoco"), prototype=chain()) as simulation:
        assert "joint_q" in named(simulation, [0], [".*"])  # all that there is
        with pytest.raises(pippin.ConfigError, match=r"'contacts/\.\*': the solver keeps its contacts.*contact_f"):
            channels(simulation, series=["contacts/.*"])


def test_worlds_with_other_contents_are_refused_and_alike_ones_are_not(configure, chain, ball):
    config, pendulum = configure("featherstone", scene={"worlds": 3}), chain()
    with pippin.Simulation(config, prototype=[(pendulum, 1), (ball(), 1), (pendulum, 1)]) as simulation:
        alike = named(simulation, [0, 2])["joint_q"]
        other = named(simulation, [1])["joint_q"]
        with pytest.raises(pippin.ConfigError, match="worlds: world 1 has other contents than world 0"):
            channels(simulation, [0, 1])

    assert (alike.shape, other.shape) == ((2, 2), (1, 7))


def test_joints_are_labelled_by_axes(configure):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    base, arm, hand = (builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for _ in range(3))
    slide, turn = (newton.ModelBuilder.JointDofConfig(axis=axis) for axis in ((1, 0, 0), (0, 1, 0)))
    joints = [
        builder.add_joint_free(base, label="bot/base"),
        builder.add_joint_d6(base, arm, linear_axes=[slide], angular_axes=[turn], label="bot/arm"),
        builder.add_joint_d6(arm, hand, linear_axes=[slide], angular_axes=[turn], label="bot/hand"),
    ]
    builder.add_articulation(joints)
    name_axes(builder, joints[1], ["reach", "turn"])
    config = configure("featherstone", actuators={"all": {"type": "pd", "joints": [".*"], "kp": 1.0}})

    with pippin.Simulation(config, prototype=builder) as simulation:
        found = named(simulation)

    own = ("bot/reach", "bot/turn", "bot/hand:0", "bot/hand:1")
    assert found["joint_q"].labels == (*(f"bot/base:{index}" for index in range(7)), *own)
    assert found["joint_qd"].labels == (*(f"bot/base:{index}" for index in range(6)), *own)
    assert found["actuators/all/applied_effort"].labels == own
    assert found["actuators/all/applied_effort"].units == ("N", "N·m") * 2


def test_the_force_of_a_contact_carries_the_ball(configure, ball):
    config = configure("mujoco", scene={"ground": True}, observables=["contact_f"])
    with pippin.Simulation(config, prototype=ball(height=0.0995)) as simulation:
        simulation.step(150)
        found = named(simulation, series=["contacts/.*"])
        force, bodies = found["contacts/force"].numpy()[0], found["contacts/bodies"].numpy()[0]

    on_ball = sum(force[k] if bodies[k, 0] == 0 else -force[k] for k in range(4))
    np.testing.assert_allclose(on_ball, [0.0, 0.0, 9.81], rtol=0.02, atol=0.05)  # [N], the weight of 1 kg
