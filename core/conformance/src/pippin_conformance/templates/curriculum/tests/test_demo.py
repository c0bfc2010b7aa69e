"""Tests of this curriculum."""

import numpy as np
import pippin
import pytest


def task(**keys):
    """A task with episodes of ten steps."""
    curricula = {"wider": {"type": "demo", "command": "speed", **keys}}
    return {"episode_length": 0.1, "commands": {"speed": {"type": "velocity"}}, "curricula": curricula}


def test_the_range_widens_with_the_episodes(simulate):
    with simulate(scene={"worlds": 5}, task=task(widest=2.0, episodes=20)) as simulation:
        speeds = []
        for _ in range(5):
            simulation.step(10)  # an episode in each of five worlds
            speeds.append(float(simulation.task.curricula["wider"].value.numpy()[0, 0]))
        drawn = simulation.task.commands["speed"].value.numpy()[:, 0]

    assert np.allclose(speeds, [0.5, 1.0, 1.5, 2.0, 2.0])
    assert 0.5 < abs(drawn).max() <= 2.0


def test_an_unknown_command_is_refused(simulate):
    with pytest.raises(pippin.ConfigError, match=r"wider\.command: there is no term 'commands\.sped'"):
        simulate(task=task(command="sped"))
