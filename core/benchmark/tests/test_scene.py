"""Scenes of benchmarks: what each states, and its content."""

from __future__ import annotations

import pytest
from pippin.catalog.entries import Catalog
from pippin_benchmark.benchmark import load_scene
from pippin_benchmark.measuring import still_motion
from pippin_benchmark.scene import SAMPLE

RESTING = {"block-at-rest", "gripped-cube", "pyramid", "stack"}
"""Scenes that are right if nothing moves."""


@pytest.mark.parametrize("name", Catalog.installed().names("scene"))
def test_a_scene_says_what_it_is_and_builds(name):
    scene = load_scene(name)
    still = still_motion(scene)

    assert still.poses.shape[1] or still.particles.shape[1]
    assert scene.duration / SAMPLE == pytest.approx(round(scene.duration / SAMPLE))
    assert scene.limit > 0.0
    assert scene.title
    assert {*scene.conserves} <= {"energy", "angular momentum"}


@pytest.mark.slow
@pytest.mark.parametrize("name", Catalog.installed().names("scene"))
def test_a_world_in_which_nothing_moves_holds_the_scenes_at_rest_alone(name):
    scene = load_scene(name)

    assert (scene.error(still_motion(scene)) <= scene.limit) == (name in RESTING)
