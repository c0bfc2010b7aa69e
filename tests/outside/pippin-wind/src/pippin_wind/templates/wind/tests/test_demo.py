"""Tests of this wind's speed."""

import pippin
import pytest


def test_the_wind_grows():
    ball = {"type": "body", "label": "ball", "shapes": [{"type": "sphere", "radius": 0.1}]}
    tables = {
        "simulation": {"dt": 0.01, "device": "cpu"},
        "scene": {"objects": [ball]},
        "solver": {"type": "semi-implicit"},
        "air": {},
        "winds": {"west": {"type": "demo", "velocity": [2.0, 0.0, 0.0], "growth": 0.5}},
    }
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        simulation.step(100)

        assert simulation.winds["west"].velocities.numpy()[0] == pytest.approx([3.0, 0.0, 0.0], rel=1e-4)
