"""What Isaac Sim's `test_rigid_contact` checks, by the names of its tests: with tighter bounds, after two seconds."""

import numpy as np
import pytest

WEIGHT = 9.81
DT = 1.0 / 60.0


@pytest.fixture(scope="module")
def settle(simulate):
    """Return a function from a prototype to a simulation of it after 120 steps."""

    def build(prototype):
        simulation = simulate(prototype, observables=("contact_f",))
        simulation.step(120)
        simulation.raise_errors()
        return simulation

    return build


def test_net_contact_forces(settle, box_grid):
    contacts = settle(box_grid(4, ("box",))).view.create_rigid_contact_view(["/envs/env*/box"])

    forces = contacts.get_net_contact_forces(DT).numpy()

    assert contacts.sensor_count == 4
    np.testing.assert_allclose(forces, [[0.0, 0.0, WEIGHT]] * 4, rtol=0.01, atol=0.05)


def test_force_matrix(settle, box_grid):
    simulation = settle(box_grid(4, ("box",), ball="ball"))
    contacts = simulation.view.create_rigid_contact_view(
        "/envs/*/box", filter_patterns=["/groundPlane", "/envs/*/ball"], max_contact_data_count=24
    )
    assert (contacts.sensor_count, contacts.filter_count) == (4, 2)

    matrix = contacts.get_contact_force_matrix(DT).numpy()

    np.testing.assert_allclose(matrix[:, 0, 2], 2.0 * WEIGHT, rtol=0.02)
    np.testing.assert_allclose(matrix[:, 1, 2], -WEIGHT, rtol=0.02)
    np.testing.assert_allclose(contacts.get_net_contact_forces(DT).numpy(), matrix.sum(axis=1), rtol=1e-4, atol=1e-3)


@pytest.fixture(scope="module")
def stacks(settle, box_grid):
    return settle(box_grid(4, ("bottom_box", "top_box")))


def test_raw_contact_data(stacks):
    contacts = stacks.view.create_rigid_contact_view("/envs/*/top_box", max_contact_data_count=64)
    assert (contacts.sensor_count, contacts.filter_count) == (4, 0)

    data = contacts.get_raw_contact_data(DT)

    starts, counts = data.starts.numpy(), data.counts.numpy()
    assert (counts > 0).all()
    for sensor in range(4):
        rows = slice(starts[sensor], starts[sensor] + counts[sensor])
        paths = contacts.get_other_actor_paths_from_ids(data.other_bodies.numpy()[rows])
        assert f"/envs/env{sensor}/bottom_box" in paths
        pushed = (data.forces.numpy()[rows, None] * data.normals.numpy()[rows]).sum(axis=0)
        np.testing.assert_allclose(pushed[2], WEIGHT, rtol=0.01)


def test_multi_sensor_multi_filter(stacks):
    """Theirs overflowed a buffer where there are more bodies than filters."""
    contacts = stacks.view.create_rigid_contact_view(
        "/envs/*/bottom_box", filter_patterns=["/groundPlane", "/envs/*/top_box"], max_contact_data_count=64
    )
    assert (contacts.sensor_count, contacts.filter_count) == (4, 2)
    assert stacks.model.body_count > contacts.filter_count

    matrix, net = contacts.get_contact_force_matrix(DT).numpy(), contacts.get_net_contact_forces(DT).numpy()
    raw, split = contacts.get_raw_contact_data(DT), contacts.get_contact_data(DT)

    assert np.isfinite(matrix).all()
    assert np.isfinite(net).all()
    np.testing.assert_allclose(matrix[:, :, 2], [[2.0 * WEIGHT, -WEIGHT]] * 4, rtol=0.02)
    for data, shape in ((raw, (4,)), (split, (4, 2))):
        counts, starts = data.counts.numpy(), data.starts.numpy()
        assert counts.shape == starts.shape == shape
        assert ((counts >= 0) & (counts <= 64)).all()
        np.testing.assert_array_equal(starts.ravel(), np.cumsum(counts) - counts.ravel())
    contacts.raise_errors()
