"""Tests of the contract of every plugin, and of this one's force."""

import newton
import numpy as np
import pippin
from pippin import conformance


@conformance.parametrize(conformance.Conformance("plugin", "demo"))
def test_it_keeps_the_contract(check):
    check()


def test_a_body_takes_the_velocity_of_the_wind():
    """The difference decays by exp(−t drag / mass)."""
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="leaf", mass=0.5, inertia=np.eye(3))
    config = pippin.structure(
        {
            "simulation": {"dt": 1e-3, "device": "cpu"},
            "scene": {"gravity": [0.0, 0.0, 0.0]},
            "solver": {"type": "semi-implicit"},
            "plugins": {"wind": {"type": "demo", "wind": [0.0, 2.0, 0.0], "drag": 1.0}},
        }
    )
    with pippin.Simulation(config, prototype=builder) as simulation:
        simulation.step(500)
        velocity = simulation.state.body_qd.numpy()[0, :3]

    np.testing.assert_allclose(velocity, [0.0, 2.0 * (1.0 - np.exp(-1.0)), 0.0], rtol=1e-3, atol=1e-6)
