"""Tests of the contract of every metric, and of this one."""

import newton
import numpy as np
import pippin
import pytest
from pippin import conformance


@conformance.parametrize(conformance.Conformance("metric", "demo"))
def test_it_keeps_the_contract(check):
    check()


def box():
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="box", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0)))
    return builder


def test_a_box_that_is_thrown_up_has_its_height_in_the_score():
    """It rises by v² / 2g, 0.2 m in 0.2 s, and falls again."""
    tables = {
        "simulation": {"dt": 0.002, "device": "cpu"},
        "solver": {"type": "semi-implicit"},
        "task": {
            "episode_length": 0.4,
            "events": {"start": {"type": "root", "velocity": {"z": [1.981, 1.981]}}},
            "metrics": {"highest": {"type": "demo"}},
        },
    }
    with pippin.Simulation(pippin.structure(tables), prototype=box()) as simulation:
        simulation.step(400)
        score = simulation.task.score()["metrics"]["highest"]

    assert score["mean"] == pytest.approx(2.2, abs=0.01)
    assert score["std"] < 1e-4
