"""Cloth of Style3D and sand of MPM as a user has them: a run with all recorders and a page, views, gravity, resets."""

import numpy as np
import pippin
import pytest
from pippin.views import ViewError

STEPS = 6
FLAG = {"type": "cloth-grid", "label": "flag", "cells": [4, 3], "cell": [0.1, 0.1], "position": [0.0, 0.0, 1.0]}
FLAG |= {"density": 0.3, "particle_radius": 0.02, "tri_ke": 100.0, "edge_ke": 1e-4, "pin": [{"edge": "left"}]}
SAND = {"type": "granular", "label": "sand", "size": [0.1, 0.1, 0.1], "spacing": 0.05, "density": 1500.0}
SAND |= {"position": [0.0, 0.0, 0.3]}
SCENES = {
    "style3d": ({"type": "style3d"}, FLAG, 1),
    "implicit-mpm": ({"type": "implicit-mpm", "separate_worlds": True, "grid_type": "dense"}, SAND, 2),
}
each_scene = pytest.mark.parametrize("name", SCENES)


def tables(name, **more):
    solver, matter, worlds = SCENES[name]
    scene = {"worlds": worlds, "objects": [matter], "ground": True}
    return {"simulation": {"device": "cpu", "dt": 0.005}, "scene": scene, "solver": solver, **more}


@pytest.mark.slow
@each_scene
def test_a_run_leaves_a_report_and_recordings_with_a_page_open(name, tmp_path):
    recorders = {kind: {"type": kind} for kind in ("npz", "hdf5", "mcap")}
    config = pippin.structure(tables(name, recorders=recorders, viewers={"page": {"type": "viser"}}))

    result = pippin.run(config, steps=STEPS, out=tmp_path / "run")

    assert (result.failure, result.steps) == (None, STEPS)
    assert (result.folder / "report.html").stat().st_size > 1000
    with pippin.Run(result.folder) as run:
        assert len(run.recordings) == 3
        assert run.unread == {}


@pytest.mark.slow
@each_scene
def test_views_gravity_and_resets_act_while_it_runs(name):
    """Free particles fall by g t² / 2 and a little less; without gravity, they keep their velocity."""
    _, matter, worlds = SCENES[name]
    with pippin.Simulation(pippin.structure(tables(name))) as simulation:
        view = simulation.view.particles(matter["label"])
        start = view.get_particle_positions().numpy().copy()
        is_free = view.get_particle_masses().numpy()[0] > 0.0
        simulation.step(STEPS)
        fallen = start[:, is_free, 2].max() - view.get_particle_positions().numpy()[:, is_free, 2].max()
        simulation.reset()
        np.testing.assert_array_equal(view.get_particle_positions().numpy(), start)
        simulation.view.set_gravity(np.zeros((worlds, 3), dtype=np.float32))
        view.set_particle_velocities(np.array([0.0, 0.0, 0.5], dtype=np.float32), indices=[worlds - 1])
        simulation.step(2)
        risen = (view.get_particle_positions().numpy() - start)[:, is_free, 2].mean(axis=1)
        with pytest.raises(ViewError, match="the scene has nothing with this property"):
            view.get_attribute("tet_materials")

    assert 0.5 < fallen / (9.81 * (STEPS * 0.005) ** 2 / 2) < 1.2
    assert 0.5 < risen[-1] / (2 * 0.005 * 0.5) < 1.01
    np.testing.assert_allclose(risen[:-1], 0.0, atol=1e-5)
