"""The poses of a scene alone have the model of the simulation, and no kernel is loaded for them."""

import numpy as np
import pippin
import pytest
import warp as wp
from pippin import Run
from pippin.assembly.poses import build_poses
from pippin_view.configs import ViserConfig
from pippin_view.viser.playback import Playback, find_poses, fits

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


SAND = {"type": "granular", "label": "sand", "size": [0.1, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}
FLAG = {"type": "cloth-grid", "label": "flag", "cells": [2, 2], "cell": [0.1, 0.1], "density": 0.5}
FLAG |= {"position": [0.0, 0.0, 1.0], "particle_radius": 0.02, "tri_ke": 10.0, "tri_ka": 10.0}
CABLE = {"type": "rod", "label": "cable", "end": [1.0, 0.0, 0.0], "segments": 4, "radius": 0.02}


@pytest.mark.parametrize(
    ("series", "objects"), [("particle_q", [SAND, FLAG]), ("objects/.*/q", [SAND, FLAG]), ("objects/cable/q", [CABLE])]
)
def test_a_replay_shows_recorded_matter(tmp_path, series, objects):
    recorder = {"type": "npz", "series": [series], "worlds": [0, 2]}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01},
        "scene": {"worlds": 3, "objects": objects},
        "solver": {"type": "vbd"},
        "recorders": {"log": recorder},
    }
    config, names = pippin.structure(tables), ("particle_q",) if objects[0] is SAND else ("body_q",)
    with pippin.Simulation(config, folder=tmp_path / "run") as simulation:
        simulation.step(5)
        [expected] = [getattr(simulation.state, name).numpy().reshape(3, -1)[[0, 2]].copy() for name in names]
    with Run(tmp_path / "run") as run:
        recording = find_poses(run.recordings, run.path)
        poses = build_poses(config, 3)
        assert fits(poses.model, recording)
        start = getattr(poses.state, names[0]).numpy().reshape(3, -1)[[0, 2]].copy()
        playback = Playback(poses, recording, ViserConfig())
        playback.seek(1.0)
        shown = getattr(poses.state, names[0]).numpy().reshape(3, -1)[[0, 2]]

    np.testing.assert_array_equal(shown, expected)
    assert np.abs(start - expected).max() > 1e-3


def test_a_replay_knows_what_the_solver_registers(tmp_path):
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01},
        "scene": {"objects": [SAND | {"mpm": {"friction": 0.6}}]},
        "solver": {"type": "implicit-mpm"},
    }

    assert build_poses(pippin.structure(tables), 1).model.particle_count == 27
