"""What Isaac Sim's `test_rigid_body` checks, by the names of its tests: balls that float, fall and are pushed."""

import numpy as np
import pytest

DT = 1.0 / 60.0
INERTIA = 2.0 / 5.0 * 0.15**2
"""Moment of inertia of a ball [kg·m²]: 2/5 m r²."""


@pytest.fixture(scope="module")
def floating(simulate, ball_grid):
    """Sixteen balls without gravity."""
    return simulate(ball_grid(16), gravity=[0.0, 0.0, 0.0])


@pytest.fixture
def balls(floating):
    """The balls, where they were built."""
    floating.reset()
    return floating.view.create_rigid_body_view("/envs/*/ball")


@pytest.fixture
def falling(simulate, ball_grid):
    return simulate(ball_grid(4, height=5.0), observables=("body_qdd",))


def test_rigid_body_view_counts(balls):
    assert balls.count == 16
    assert balls.check()


def test_rigid_body_view_paths(balls):
    assert balls.prim_paths == [f"/envs/env{env}/ball" for env in range(16)]


@pytest.fixture
def lent(balls):
    """The balls, given back with the mass, the centre of mass and the inertia that they had."""
    before = {name: getattr(balls, f"get_{name}")().numpy().copy() for name in ("masses", "coms", "inertias")}
    yield balls
    for name, values in before.items():
        getattr(balls, f"set_{name}")(values)


def test_body_masses(lent, devices):
    lent.set_masses(devices.array(np.full(16, 100.0)), devices.indices(16))

    np.testing.assert_array_equal(lent.get_masses().numpy(), 100.0)


def test_body_inv_masses_shape(balls):
    assert balls.get_inv_masses().shape == (16,)


def test_body_coms(lent, devices):
    coms = lent.get_coms().numpy().copy()
    coms[:, 0] += 0.1

    lent.set_coms(devices.array(coms), devices.indices(16))

    np.testing.assert_allclose(lent.get_coms().numpy(), coms, rtol=1e-6)


def test_body_inertias(lent, devices):
    inertias = lent.get_inertias().numpy().copy()
    inertias[:, [0, 4, 8]] += 0.1

    lent.set_inertias(devices.array(inertias), devices.indices(16))

    np.testing.assert_allclose(lent.get_inertias().numpy(), inertias, rtol=1e-6)


def test_body_inv_inertias_shape(balls):
    assert balls.get_inv_inertias().shape == (16, 9)


def test_set_get_transforms(floating, balls, devices):
    transforms = balls.get_transforms().numpy().copy()
    transforms[:, 2] += np.linspace(0.0, 1.0, 16, dtype=np.float32)

    balls.set_transforms(devices.array(transforms), devices.indices(16))
    floating.step()

    np.testing.assert_allclose(balls.get_transforms().numpy(), transforms, rtol=1e-3, atol=1e-4)


def test_set_get_transforms_subset(floating, balls, devices):
    floating.step()
    before = balls.get_transforms().numpy().copy()
    raised = before + np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])

    balls.set_transforms(devices.array(raised), devices.indices(4))

    after = balls.get_transforms().numpy()
    np.testing.assert_allclose(after[:4], raised[:4], atol=1e-4)
    np.testing.assert_array_equal(after[4:], before[4:])


def test_set_get_velocities(floating, balls, devices):
    velocities = np.zeros((16, 6), dtype=np.float32)
    velocities[:, 2] = np.linspace(0.1, 1.0, 16)

    balls.set_velocities(devices.array(velocities), devices.indices(16))
    floating.step(10)

    np.testing.assert_allclose(balls.get_velocities().numpy(), velocities, rtol=1e-3, atol=1e-3)


def test_set_get_velocities_subset(floating, balls, devices):
    floating.step()
    before = balls.get_velocities().numpy().copy()
    faster = before + np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    balls.set_velocities(devices.array(faster), devices.indices(4))

    after = balls.get_velocities().numpy()
    np.testing.assert_allclose(after[:4], faster[:4], atol=1e-3)
    np.testing.assert_array_equal(after[4:], before[4:])


def test_freefall_acceleration_is_gravity(falling):
    balls = falling.view.create_rigid_body_view("/envs/*/ball")

    falling.step(5)

    np.testing.assert_allclose(balls.get_accelerations().numpy(), [[0.0, 0.0, -9.81, 0.0, 0.0, 0.0]] * 4, atol=1e-3)


def vectors(x=0.0, y=0.0, z=0.0):
    """Return the same vector for each ball."""
    return np.tile(np.array([x, y, z], dtype=np.float32), (16, 1))


def expect_velocity(balls, component, value):
    """Expect one component of the velocity, and no other."""
    expected = np.zeros((16, 6))
    expected[:, component] = value
    np.testing.assert_allclose(balls.get_velocities().numpy(), expected, rtol=1e-3, atol=1e-4)


def test_apply_forces_global_linear_velocity(floating, balls, devices):
    """v = F dt / m."""
    balls.apply_forces(devices.array(vectors(z=10.0)), indices=devices.indices(16))
    floating.step()

    expect_velocity(balls, 2, 10.0 * DT)


def test_apply_forces_subset_only_affects_selected_bodies(floating, balls, devices):
    balls.apply_forces(devices.array(vectors(z=20.0)), indices=devices.indices(8))
    floating.step()

    expect_velocity(balls, 2, np.repeat([20.0 * DT, 0.0], 8))


def test_apply_torques_angular_velocity(floating, balls, devices):
    """w = T dt / I."""
    balls.apply_forces_and_torques_at_position(
        devices.array(vectors()), devices.array(vectors(z=0.05)), None, devices.indices(16), True
    )
    floating.step()

    expect_velocity(balls, 5, 0.05 / INERTIA * DT)


def test_apply_force_accumulates_over_steps(floating, balls, devices):
    for _ in range(5):
        balls.apply_forces(devices.array(vectors(z=5.0)), indices=devices.indices(16))
        floating.step()

    expect_velocity(balls, 2, 5.0 * 5 * DT)


def test_freefall_velocity_is_linear_z(falling):
    """v = g t, after ten steps."""
    falling.step(10)

    velocities = falling.view.create_rigid_body_view("/envs/*/ball").get_velocities().numpy()
    np.testing.assert_allclose(velocities, [[0.0, 0.0, -9.81 * 10 * DT, 0.0, 0.0, 0.0]] * 4, rtol=1e-3, atol=1e-4)


def test_set_linear_velocity_produces_translation(floating, balls, devices):
    """2 m/s for half a second."""
    before = balls.get_transforms().numpy().copy()

    balls.set_velocities(devices.array(np.tile([2.0, 0.0, 0.0, 0.0, 0.0, 0.0], (16, 1))), devices.indices(16))
    floating.step(30)

    moved = balls.get_transforms().numpy() - before
    np.testing.assert_allclose(moved, np.tile([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], (16, 1)), atol=1e-3)


def test_set_angular_velocity_produces_rotation(floating, balls, devices):
    """2 rad/s for half a second turn by a radian: the quaternion is (0, 0, sin 1/2, cos 1/2)."""
    balls.set_velocities(devices.array(np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 2.0], (16, 1))), devices.indices(16))
    floating.step(30)

    turned = balls.get_transforms().numpy()[:, 3:]
    np.testing.assert_allclose(turned, np.tile([0.0, 0.0, np.sin(0.5), np.cos(0.5)], (16, 1)), atol=1e-3)


def test_apply_force_layout_linear(floating, balls, devices):
    balls.apply_forces(devices.array(vectors(x=10.0)), indices=devices.indices(16))
    floating.step()

    expect_velocity(balls, 0, 10.0 * DT)


def test_apply_torque_layout_angular(floating, balls, devices):
    balls.apply_forces_and_torques_at_position(
        devices.array(vectors()), devices.array(vectors(z=0.05)), None, devices.indices(16), is_global=True
    )
    floating.step()

    expect_velocity(balls, 5, 0.05 / INERTIA * DT)
