"""Tests of these ridges."""

import pippin
import pytest


def simulate(**keys):
    patches = {"ridges": {"type": "demo", "height": (0.2, 0.2), **keys}}
    ball = {"type": "body", "label": "ball", "position": (0.0, 0.0, 0.4), "shapes": [{"type": "sphere", "radius": 0.1}]}
    scene = {"terrain": {"levels": 1, "border": 0.0, "patches": patches}, "objects": [ball]}
    tables = {"simulation": {"device": "cpu", "dt": 0.002}, "scene": scene, "solver": {"type": "xpbd"}}
    return pippin.Simulation(pippin.structure(tables))


def test_a_ball_comes_to_rest_between_two_ridges():
    with simulate() as simulation:
        simulation.step(1500)
        x, _, z = simulation.state.body_q.numpy()[0, :3]

    assert abs(z - 0.1) < 0.02
    assert abs(x - round(x)) < 0.1


def test_a_wrong_distance_is_refused():
    with pytest.raises(pippin.ConfigError, match=r"distance: must be > 0\.0"):
        simulate(distance=-1.0)
