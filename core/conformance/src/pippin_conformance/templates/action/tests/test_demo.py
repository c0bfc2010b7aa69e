"""Tests of this action."""

import pytest


def test_a_number_is_scaled_and_clipped(simulate):
    task = {"actions": {"efforts": {"type": "demo", "joints": ["hinge"], "scale": 3.0}}}
    with simulate(scene={"worlds": 2}, task=task) as simulation:
        simulation.task.episodes.action.assign([[0.5], [7.0]])
        simulation.step()
        efforts = simulation.control.joint_f.numpy()

    assert efforts == pytest.approx([1.5, 3.0])
