"""Tests of this stage's readings."""

import pytest


@pytest.mark.parametrize(("speed", "reading"), [(0.1, 0.0), (-0.3, 0.0), (0.5, 0.5)])
def test_small_readings_are_zero_and_large_ones_stay(simulate, speed, reading):
    stages = [{"type": "demo", "output": "velocity", "width": 0.3}]
    with simulate(
        speed, sensors={"encoder": {"type": "joint-state", "joints": ["hinge"], "stages": stages}}
    ) as simulation:
        velocity = simulation.sensors["encoder"].outputs["velocity"]

        assert velocity.clean.numpy() == pytest.approx(speed)
        assert velocity.numpy() == reading
