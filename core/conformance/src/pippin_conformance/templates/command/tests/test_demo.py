"""Tests of this command."""

import numpy as np
import pippin
import pytest


def test_each_world_has_a_height_in_the_range(simulate):
    task = {"commands": {"height": {"type": "demo", "low": 1.0, "high": 3.0}}}
    with simulate(scene={"worlds": 20}, task=task) as simulation:
        heights = simulation.task.commands["height"].value.numpy()[:, 0]

    assert len(np.unique(heights)) == 20
    assert 1.0 <= heights.min() < 1.8
    assert 2.2 < heights.max() <= 3.0


def test_an_empty_range_is_refused(simulate):
    with pytest.raises(pippin.ConfigError, match=r"height\.high: must be at least 'low'"):
        simulate(task={"commands": {"height": {"type": "demo", "low": 3.0, "high": 1.0}}})
