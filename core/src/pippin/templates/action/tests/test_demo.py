"""Tests of the contract of every action, and of this one."""

import newton
import numpy as np
import pippin
import pytest
from pippin import conformance


@conformance.parametrize(conformance.Conformance("action", "demo", config={"joints": [".*"]}))
def test_it_keeps_the_contract(check):
    check()


def test_a_number_is_scaled_and_clipped():
    builder = newton.ModelBuilder(up_axis="Z")
    body = builder.add_link(label="slider", mass=1.0, inertia=np.eye(3))
    builder.add_articulation([builder.add_joint_prismatic(-1, body, axis=(1.0, 0.0, 0.0), label="rail")])
    tables = {"simulation": {"dt": 0.01, "device": "cpu"}, "scene": {"worlds": 2}, "solver": {"type": "featherstone"}}
    task = {"actions": {"efforts": {"type": "demo", "joints": ["rail"], "scale": 3.0}}}
    with pippin.Simulation(pippin.structure({**tables, "task": task}), prototype=builder) as simulation:
        simulation.task.episodes.action.assign([[0.5], [7.0]])
        simulation.step()
        efforts = simulation.control.joint_f.numpy()

    assert efforts == pytest.approx([1.5, 3.0])
