"""Sensors on robots that MuJoCo moves: what they read adds up to what happened."""

from pathlib import Path

import numpy as np
import orchard
import pytest

ANT = Path(__file__).parents[1] / "docs" / "examples" / "ant.toml"
GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def ant():
    """Two ants that have stood for a second, after a second of landing."""
    with orchard.Simulation.from_file(ANT, {"scene.worlds": 2, "simulation.device": "cpu"}) as simulation:
        simulation.step(100)
        simulation.check()
        yield simulation


def test_the_feet_of_a_standing_robot_carry_its_weight(ant):
    """It has stood still for a second: what is left of its motion is below a thousandth of its weight."""
    weights = ant.model.body_mass.numpy().reshape(2, -1).sum(axis=1) * 9.81

    carried = ant.sensors["feet"].outputs["net_force"].data.numpy().sum(axis=1)

    np.testing.assert_allclose(carried[:, 2], weights, rtol=1e-3)
    np.testing.assert_allclose(carried[:, :2], 0.0, atol=1e-3 * weights[0])


def test_the_imu_of_a_robot_that_stands_level_reads_gravity_upwards(ant):
    acceleration = ant.sensors["torso"].outputs["linear_acceleration"].data.numpy()

    np.testing.assert_allclose(acceleration, np.broadcast_to(-GRAVITY, (2, 1, 3)), atol=0.01)


def test_readings_through_an_impact_add_up_to_the_change_of_velocity(ball, configure):
    """Step by step, a + g = Δv / dt and F = m a. Velocities of 1 m/s are known to 1e-7, over 2 ms: 1e-4 m/s²."""
    sensors = {"imu": {"type": "imu", "body": "ball"}, "touch": {"type": "contact", "bodies": ["ball"]}}
    config = configure("mujoco", dt=0.002, scene={"ground": True}, sensors=sensors)
    velocities, accelerations, forces = [np.zeros(3)], [], []
    with orchard.Simulation(config, prototype=ball(mass=2.0, height=0.13)) as simulation:
        imu, touch = simulation.sensors["imu"].outputs, simulation.sensors["touch"].outputs
        for _ in range(100):
            simulation.step()
            velocities.append(simulation.state.body_qd.numpy()[0, :3].copy())
            accelerations.append(imu["linear_acceleration"].data.numpy()[0, 0].copy())
            forces.append(touch["net_force"].data.numpy()[0, 0].copy())

    assert np.max(forces) > 100.0
    np.testing.assert_allclose(accelerations + GRAVITY, np.diff(velocities, axis=0) / 0.002, atol=1e-3)
    np.testing.assert_allclose(forces, 2.0 * np.array(accelerations), atol=1e-2)


def test_position_based_contacts_carry_the_weight_too(ball, configure):
    """XPBD reports corrections divided by dt², to a thousandth."""
    sensors = {"touch": {"type": "contact", "bodies": ["ball"]}}
    config = configure("xpbd", scene={"ground": True}, sensors=sensors)
    with orchard.Simulation(config, prototype=ball(mass=2.0, height=0.1)) as simulation:
        simulation.step(300)

        force = simulation.sensors["touch"].outputs["net_force"].data.numpy()[0, 0]

    np.testing.assert_allclose(force, [0.0, 0.0, 2.0 * 9.81], rtol=1e-3, atol=1e-3)
