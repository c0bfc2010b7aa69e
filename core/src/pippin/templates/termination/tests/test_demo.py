"""Tests of the contract of every termination, and of this one."""

import newton
import numpy as np
import pippin
import pytest
from pippin import conformance


@conformance.parametrize(conformance.Conformance("termination", "demo", config={"height": 1.0}))
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


def test_an_episode_ends_below_the_height():
    """It falls 0.3 m in 0.25 s."""
    with simulate(terminations={"low": {"type": "demo", "height": 1.7}}) as simulation:
        ends = []
        for _ in range(30):
            simulation.step()
            ends.append(bool(simulation.task.episodes.terminated.numpy()[0]))

    assert ends.index(True) * 0.01 == pytest.approx(np.sqrt(2 * 0.3 / 9.81), abs=0.015)
