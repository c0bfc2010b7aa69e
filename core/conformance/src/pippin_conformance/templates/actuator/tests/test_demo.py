"""Tests of this actuator's law."""

import numpy as np

SETTINGS = {"kp": 20.0, "kd": 1.0, "max_effort": 5.0}


def test_its_effort_bends_towards_the_limit(simulate):
    errors = np.array([[0.01], [0.25], [10.0]], dtype=np.float32)
    servo = {"type": "demo", "joints": ["hinge"], **SETTINGS}
    with simulate(scene={"worlds": 3}, actuators={"servo": servo}) as simulation:
        servo = simulation.actuators["servo"]
        servo.position_targets.assign(errors)
        simulation.step()

        np.testing.assert_allclose(servo.applied_effort.numpy(), 5.0 * np.tanh(20.0 * errors / 5.0), rtol=1e-5)
