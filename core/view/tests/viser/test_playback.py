"""Playback: the state of a simulation follows the rows of a recording."""

import numpy as np
import pippin
import pytest
from pippin import Run
from pippin_view.configs import ViserConfig
from pippin_view.viser.playback import Playback, find_poses

pytestmark = pytest.mark.simulation(
    dt=0.01, worlds=3, accept_unsupported=["armature"], prototype="chain", solver="featherstone"
)


@pytest.mark.parametrize("channel", ["joint_q", "body_q"])
def test_a_playback_shows_the_recorded_poses_at_each_time(simulate, tmp_path, channel):
    poses = []
    with simulate(
        recorders={"log": {"type": "npz", "worlds": "1:3", "series": [channel]}}, folder=tmp_path
    ) as simulation:
        for _ in range(4):
            simulation.step()
            poses.append(simulation.state.body_q.numpy().reshape(3, -1, 7)[1:].copy())
    with Run(tmp_path) as run:
        playback = Playback(simulation, find_poses(run.recordings, run.path), ViserConfig())
        playback.seek(0.031)
        shown = (playback.time, playback.state.body_q.numpy().reshape(3, -1, 7)[1:].copy())
        playback.forward()
        is_at_end = playback.is_at_end
        playback.reset()

    assert playback.worlds == [1, 2]
    assert shown[0] == pytest.approx(0.03)
    np.testing.assert_allclose(shown[1], poses[2], atol=1e-6)
    assert is_at_end
    assert playback.time == pytest.approx(0.01)


def test_a_world_that_was_not_recorded_is_refused(simulate, tmp_path):
    with simulate(recorders={"log": {"type": "npz"}}, folder=tmp_path) as simulation:
        simulation.step()
    with Run(tmp_path) as run, pytest.raises(pippin.ConfigError, match=r"world 2 is not in .* recorded: "):
        Playback(simulation, find_poses(run.recordings, run.path), ViserConfig(worlds="2:3"))


def test_a_recording_without_poses_is_refused(simulate, tmp_path):
    with simulate(recorders={"log": {"type": "npz", "series": ["joint_qd"]}}, folder=tmp_path) as simulation:
        simulation.step()
    with Run(tmp_path) as run, pytest.raises(pippin.ConfigError, match=r"no recording with rows of body_q or"):
        find_poses(run.recordings, run.path)
