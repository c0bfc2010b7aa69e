"""Tests of the contract of every action, and of this one."""

import pippin_conformance as conformance
import pytest


@conformance.parametrize(conformance.Conformance("action", "demo", config={"joints": [".*"]}))
def test_it_keeps_the_contract(check):
    check()


def test_a_number_is_scaled_and_clipped(simulate):
    task = {"actions": {"efforts": {"type": "demo", "joints": ["hinge"], "scale": 3.0}}}
    with simulate(scene={"worlds": 2}, task=task) as simulation:
        simulation.task.episodes.action.assign([[0.5], [7.0]])
        simulation.step()
        efforts = simulation.control.joint_f.numpy()

    assert efforts == pytest.approx([1.5, 3.0])
