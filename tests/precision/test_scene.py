"""Scenes of benchmarks: what each states, and its content."""

from __future__ import annotations

import newton
import pytest
from pippin.catalog.entries import Catalog
from pippin.precision.benchmark import load_scene
from pippin.precision.scene import SAMPLE


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
