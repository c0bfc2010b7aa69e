"""Tests of this clamping's law."""

import numpy as np


def test_effort_bends_towards_the_limit(simulate):
    motor = {"type": "pd", "joints": ["hinge"], "clamping": [{"type": "demo", "max_effort": 5.0}]}
    efforts = np.array([[0.1], [5.0], [200.0]], dtype=np.float32)
    with simulate(scene={"worlds": 3}, actuators={"motor": motor}) as simulation:
        motor = simulation.actuators["motor"]
        motor.feedforward.assign(efforts)
        simulation.step()

        np.testing.assert_allclose(motor.applied_effort.numpy(), 5.0 * np.tanh(efforts / 5.0), rtol=1e-5)
