"""Tests of this object's shapes."""

import pippin
import pytest


def simulate(**keys):
    scene = {"objects": [{"type": "demo", "label": "bell", **keys}]}
    tables = {"simulation": {"device": "cpu"}, "scene": scene, "solver": {"type": "semi-implicit"}}
    return pippin.Simulation(pippin.structure(tables))


def test_the_mass_lies_at_the_ends():
    with simulate(length=1.0, radius=0.1) as simulation:
        inertia = simulation.model.body_inertia.numpy()[0]

    ball = 1000.0 * 4.0 / 3.0 * 3.14159265 * 0.1**3
    assert inertia[2, 2] > 2 * ball * 0.5**2 > 10 * inertia[0, 0]


def test_copies_are_numbered():
    with simulate(repeat={"count": (2, 1, 1), "spacing": (2.0, 0.0, 0.0)}) as simulation:
        assert simulation.model.body_label == ["bell_0", "bell_1"]


def test_a_wrong_length_is_refused():
    with pytest.raises(pippin.ConfigError, match=r"length: must be > 0\.0"):
        simulate(length=-1.0)
