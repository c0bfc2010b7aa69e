"""Tests of the contract of every stage, and of this one's readings."""

import pippin_conformance as conformance
import pytest


@conformance.parametrize(conformance.Conformance("stage", "demo", config={"width": 0.05}))
def test_it_keeps_the_contract(check):
    check()


@pytest.mark.parametrize(("speed", "reading"), [(0.1, 0.0), (-0.3, 0.0), (0.5, 0.5)])
def test_small_readings_are_zero_and_large_ones_stay(simulate, speed, reading):
    stages = [{"type": "demo", "output": "velocity", "width": 0.3}]
    with simulate(
        speed, sensors={"encoder": {"type": "joint-state", "joints": ["hinge"], "stages": stages}}
    ) as simulation:
        velocity = simulation.sensors["encoder"].outputs["velocity"]

        assert velocity.clean.numpy() == pytest.approx(speed)
        assert velocity.numpy() == reading
