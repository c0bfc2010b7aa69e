"""Tests of this plugin's force."""

import numpy as np


def test_a_body_takes_the_velocity_of_the_wind(simulate):
    """The difference decays by exp(−t drag / mass)."""
    wind = {"type": "demo", "wind": [0.0, 2.0, 0.0], "drag": 2.0}
    with simulate(
        simulation={"dt": 1e-3, "device": "cpu"}, scene={"gravity": [0.0, 0.0, 0.0]}, plugins={"wind": wind}
    ) as simulation:
        simulation.step(500)
        velocity = simulation.state.body_qd.numpy()[0, :3]

    np.testing.assert_allclose(velocity, [0.0, 2.0 * (1.0 - np.exp(-1.0)), 0.0], rtol=1e-3, atol=1e-6)
