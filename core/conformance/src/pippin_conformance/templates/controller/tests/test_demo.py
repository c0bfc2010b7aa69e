"""Tests of this controller."""

import math

import newton
import numpy as np
import pippin
import pytest


def simulate(**keys):
    builder = newton.ModelBuilder(up_axis="Z")
    body = builder.add_link(label="sled", mass=1.0, inertia=np.eye(3))
    builder.add_articulation([builder.add_joint_prismatic(-1, body, axis=(1.0, 0.0, 0.0), label="rail")])
    tables = {
        "simulation": {"dt": 0.002, "device": "cpu"},
        "solver": {"type": "featherstone"},
        "actuators": {"drive": {"type": "pd", "joints": ["rail"], "kp": 1e4, "kd": 200.0}},
        "controllers": {"follow": {"type": "demo", "actuator": "drive", "body": "sled", **keys}},
    }
    return pippin.Simulation(pippin.structure(tables), prototype=builder)


def test_the_distance_decays():
    with simulate(rate=2.0) as simulation:
        simulation.controllers["follow"].goals.assign([[[0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]])
        simulation.step(500)
        place = simulation.state.body_q.numpy()[0, 0]

    assert 0.1 - place == pytest.approx(0.1 * math.exp(-2.0), rel=0.1)


def test_a_wrong_rate_is_refused():
    with pytest.raises(pippin.ConfigError, match=r"rate: must be > 0\.0"):
        simulate(rate=-1.0)
