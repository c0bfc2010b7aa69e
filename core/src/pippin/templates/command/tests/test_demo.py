"""Tests of the contract of every command, and of this one."""

import newton
import numpy as np
import pippin
import pytest
from pippin import conformance


@conformance.parametrize(conformance.Conformance("command", "demo", config={"low": 1.0, "high": 2.0}))
def test_it_keeps_the_contract(check):
    check()


def box():
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="box", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0)))
    return builder


def simulate(worlds=2, **task):
    tables = {
        "simulation": {"dt": 0.01, "device": "cpu"},
        "scene": {"worlds": worlds},
        "solver": {"type": "semi-implicit"},
    }
    return pippin.Simulation(pippin.structure({**tables, "task": task}), prototype=box())


def test_each_world_has_a_height_in_the_range():
    with simulate(worlds=20, commands={"height": {"type": "demo", "low": 1.0, "high": 3.0}}) as simulation:
        heights = simulation.task.commands["height"].value.numpy()[:, 0]

    assert len(np.unique(heights)) == 20
    assert 1.0 <= heights.min() < 1.8
    assert 2.2 < heights.max() <= 3.0


def test_an_empty_range_is_refused():
    with pytest.raises(pippin.ConfigError, match=r"height\.high: must be at least 'low'"):
        simulate(commands={"height": {"type": "demo", "low": 3.0, "high": 1.0}})
