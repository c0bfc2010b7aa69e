"""Tests of this metric."""

import pytest


def test_a_box_that_is_thrown_up_has_its_height_in_the_score(simulate):
    """It rises by v² / 2g, 0.2 m in 0.2 s, and falls again."""
    task = {
        "episode_length": 0.4,
        "events": {"start": {"type": "root", "velocity": {"z": [1.981, 1.981]}}},
        "metrics": {"highest": {"type": "demo"}},
    }
    with simulate(simulation={"dt": 0.002, "device": "cpu"}, task=task) as simulation:
        simulation.step(400)
        score = simulation.task.score()["metrics"]["highest"]

    assert score["mean"] == pytest.approx(2.2, abs=0.01)
    assert score["std"] < 1e-4
