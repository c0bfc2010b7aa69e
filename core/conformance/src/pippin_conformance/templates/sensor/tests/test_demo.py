"""Tests of this sensor's readings."""

import numpy as np


def test_it_reads_the_height_of_its_site(simulate):
    meter = {"type": "demo", "body": "box", "position": [0.0, 0.0, 0.5]}
    with simulate(sensors={"meter": meter}) as simulation:
        meter = simulation.sensors["meter"]
        np.testing.assert_allclose(meter["height"].numpy(), 2.5)
        simulation.step(10)

        height = simulation.state.body_q.numpy()[0, 2]
        np.testing.assert_allclose(meter["height"].numpy(), height + 0.5, rtol=1e-6)
