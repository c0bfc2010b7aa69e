"""The poses of a scene alone have the model of the simulation, and no kernel is loaded for them."""

import numpy as np
import pippin
import pytest
import warp as wp
from pippin import Run
from pippin.assembly.poses import build_poses
from pippin.viewing.viser.config import ViserConfig
from pippin.viewing.viser.playback import Playback, find_poses, fits

ARM = """<mujoco><worldbody><body name="upper" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom size=".05" mass="1"/>
<body name="lower" pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom size=".05" mass="1"/></body></body>
</worldbody></mujoco>"""


@pytest.fixture
def arms(tmp_path):
    """Return a function that gives the configuration of six arms that fall, with recorded worlds."""
    (tmp_path / "arm.xml").write_text(ARM)

    def configured(**scene):
        tables = {
            "simulation": {"device": "cpu", "dt": 0.01},
            "scene": {"worlds": 6, "assets": [{"path": str(tmp_path / "arm.xml")}], **scene},
            "solver": {"type": "featherstone"},
            "recorders": {"log": {"type": "npz", "worlds": "1:3"}},
        }
        return pippin.structure(tables)

    return configured


def test_a_replay_shows_the_poses_of_the_simulation_without_a_solver(arms, tmp_path):
    with pippin.Simulation(arms(), folder=tmp_path / "run") as simulation:
        simulation.step(20)
        expected = simulation.state.body_q.numpy().reshape(6, 2, 7)[1:3].copy()
    with Run(tmp_path / "run") as run:
        recording = find_poses(run.recordings, run.path)
        poses = build_poses(arms(), max(recording.worlds) + 1)
        is_fit = fits(poses.model, recording)
        playback = Playback(poses, recording, ViserConfig())
        playback.seek(1.0)

    assert is_fit
    assert (poses.model.world_count, poses.world_count) == (3, 6)
    np.testing.assert_allclose(poses.state.body_q.numpy().reshape(3, 2, 7)[1:], expected, atol=1e-6)


def test_only_the_kernels_of_the_model_are_loaded(arms, monkeypatch):
    load, loaded = wp.Module.load, set()

    def noting(module, *args, **options):
        loaded.add(module.name)
        return load(module, *args, **options)

    monkeypatch.setattr(wp.Module, "load", noting)

    assert build_poses(arms(), 4).model.world_count == 4
    assert len(loaded) <= 2
    assert not [name for name in loaded if "solver" in name]


def test_a_recording_of_other_bodies_does_not_fit(arms, tmp_path):
    with pippin.Simulation(arms(), folder=tmp_path / "run") as simulation:
        simulation.step()
    (tmp_path / "arm.xml").write_text(ARM.replace('<joint name="b" axis="0 1 0"/>', ""))
    with Run(tmp_path / "run") as run:
        recording = find_poses(run.recordings, run.path)

        assert not fits(build_poses(arms(), 3).model, recording)
        assert not fits(build_poses(arms(), 1).model, recording)
