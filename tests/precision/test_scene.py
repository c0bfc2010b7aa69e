"""Scenes of benchmarks: what each states, and its content."""

from __future__ import annotations

import newton
import numpy as np
import pytest
from pippin.catalog.entries import Catalog
from pippin.precision.benchmark import load_scene
from pippin.precision.scene import SAMPLE, SceneMotion

RESTING = {"block-at-rest", "gripped-cube", "pyramid", "stack"}
"""Scenes that are right if nothing moves."""


@pytest.mark.parametrize("name", Catalog.installed().names("scene"))
def test_a_scene_says_what_it_is_and_builds(name):
    scene = load_scene(name)
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scene.build(builder)

    assert builder.body_count
    assert scene.duration / SAMPLE == pytest.approx(round(scene.duration / SAMPLE))
    assert scene.limit > 0.0
    assert scene.title
    assert {*scene.conserves} <= {"energy", "angular momentum"}


@pytest.mark.slow
@pytest.mark.parametrize("name", Catalog.installed().names("scene"))
def test_a_world_in_which_nothing_moves_holds_the_scenes_at_rest_alone(name):
    scene = load_scene(name)
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scene.build(builder)
    model = builder.finalize(device="cpu")
    state = model.state()
    newton.eval_fk(model, model.joint_q, model.joint_qd, state)
    samples = round(scene.duration / SAMPLE) + 1
    poses, velocities = (
        np.repeat(array.numpy()[None].astype(float), samples, axis=0) for array in (state.body_q, state.body_qd)
    )

    error = scene.error(SceneMotion(times=SAMPLE * np.arange(samples), poses=poses, velocities=velocities))

    assert (error <= scene.limit) == (name in RESTING)
