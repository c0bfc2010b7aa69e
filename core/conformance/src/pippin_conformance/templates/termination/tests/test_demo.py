"""Tests of this termination."""

import numpy as np
import pytest


def test_an_episode_ends_below_the_height(simulate):
    """It falls 0.3 m in 0.25 s."""
    with simulate(task={"terminations": {"low": {"type": "demo", "height": 1.7}}}) as simulation:
        ends = []
        for _ in range(30):
            simulation.step()
            ends.append(bool(simulation.task.episodes.terminated.numpy()[0]))

    assert ends.index(True) * 0.01 == pytest.approx(np.sqrt(2 * 0.3 / 9.81), abs=0.015)
