"""Tests of this motion."""

import math

import pippin
import pytest


def simulate(**keys):
    plate = {"type": "body", "label": "plate", "motion": "kinematic", "shapes": [{"type": "box", "size": [1, 1, 0.1]}]}
    motion = {"type": "demo", "bodies": {"of": "plate"}, "along": [0.0, 1.0, 0.0], **keys}
    tables = {
        "simulation": {"dt": 0.01, "device": "cpu"},
        "scene": {"objects": [plate]},
        "solver": {"type": "xpbd"},
        "motions": {"swing": motion},
    }
    return pippin.Simulation(pippin.structure(tables))


def test_the_plate_is_where_the_formula_says():
    with simulate(growth=0.2, frequency=2.0) as simulation:
        simulation.step(30)
        place, velocity = simulation.state.body_q.numpy()[0, 1], simulation.state.body_qd.numpy()[0, 1]

    angle = 2.0 * math.pi * 2.0 * 0.3
    assert place == pytest.approx(0.2 * 0.3 * math.sin(angle), abs=1e-5)
    assert velocity == pytest.approx(0.2 * (math.sin(angle) + angle * math.cos(angle)), abs=1e-4)
