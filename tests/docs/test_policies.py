"""The trained policies of the examples do in the recorded step what they were trained for, without PyTorch."""

from pathlib import Path

import numpy as np
import pippin
import pytest

pytestmark = pytest.mark.required

DOCS = Path(__file__).parents[2] / "docs"
POLICIES = DOCS / "examples" / "policies"


@pytest.mark.slow
def test_the_policy_of_the_cartpole_keeps_its_pole_upright_for_a_whole_episode():
    """The return is the number of steps in which the pole stood, of 1000."""
    overrides = {"scene.worlds": 2, "simulation.device": "cpu", "simulation.capture": "require"}
    with pippin.Simulation.from_file(POLICIES / "cartpole.toml", overrides) as simulation:
        simulation.reset()
        simulation.step(1000)
        episodes = simulation.task.episodes
        returns, lengths = episodes.finished_return.numpy(), episodes.finished_length.numpy()

    assert lengths.tolist() == [1000, 1000]
    assert (returns > 900.0).all()


def test_the_policy_of_the_ant_walks_forward():
    """Four metres in three seconds, in most of four worlds; falls are not ruled out."""
    overrides = {"scene.worlds": 4, "simulation.device": "cpu", "solver.type": "mujoco-native"}
    with pippin.Simulation.from_file(POLICIES / "ant.toml", overrides) as simulation:
        simulation.reset()
        simulation.step(60)
        reached = simulation.state.joint_q.numpy().reshape(4, -1)[:, 0]

    assert np.median(reached) > 4.0
