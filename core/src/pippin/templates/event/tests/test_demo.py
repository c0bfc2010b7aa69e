"""Tests of the contract of every event, and of this one."""

import newton
import numpy as np
import pippin
import pytest
from pippin import conformance


@conformance.parametrize(conformance.Conformance("event", "demo", config={"rate": 3.0, "body": "ball"}))
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


def test_each_world_spins_at_a_rate_of_its_own():
    with simulate(worlds=20, events={"spin": {"type": "demo", "rate": 4.0}}) as simulation:
        rates = simulation.state.joint_qd.numpy().reshape(20, 6)[:, 5]

    assert len(np.unique(rates)) == 20
    assert np.abs(rates).max() == pytest.approx(4.0, abs=1.5)
    assert np.abs(rates).max() <= 4.0
