"""Tests of this solver's physics."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp


@pytest.fixture
def simulation():
    """A box without gravity that rotates about none of its principal axes."""
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_shape_box(builder.add_body(label="box"), hx=0.1, hy=0.2, hz=0.3)
    builder.joint_qd[-3:] = [1.0, 2.0, 3.0]
    config = pippin.structure(
        {
            "simulation": {"dt": 1e-4, "device": "cpu", "accept_unsupported": ["rigid_contacts"]},
            "scene": {"gravity": [0.0, 0.0, 0.0]},
            "solver": {"type": "demo"},
        }
    )
    with pippin.Simulation(config, prototype=builder) as simulation:
        yield simulation


def test_a_tumbling_box_keeps_its_angular_momentum(simulation):
    """The method is of first order: at steps of 0.1 ms it loses a few thousandths in a second."""
    before = angular_momentum(simulation)
    simulation.step(10_000)

    np.testing.assert_allclose(angular_momentum(simulation), before, atol=5e-3 * np.linalg.norm(before))


def angular_momentum(simulation):
    """Return the angular momentum about the centre of mass, in the world's frame [kg·m²/s]."""
    axes = np.array(wp.quat_to_matrix(wp.quat(*simulation.state.body_q.numpy()[0, 3:]))).reshape(3, 3)
    inertia = axes @ simulation.model.body_inertia.numpy()[0] @ axes.T
    return inertia @ simulation.state.body_qd.numpy()[0, 3:]
