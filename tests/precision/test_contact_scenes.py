"""Errors of scenes with contacts, for bodies that move by the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pippin.precision import contact_scenes
from pippin.precision.measuring import measured
from pippin.precision.result import BenchmarkRow
from pippin.precision.scene import SAMPLE, SceneMotion

TIMES = SAMPLE * np.arange(11)


@pytest.mark.parametrize(
    ("scene", "way"),
    [
        (
            contact_scenes.SlidingBlock(),
            lambda t: 0.5 * 9.81 * (math.sin(math.atan(0.5)) - 0.2 * math.cos(math.atan(0.5))) * t**2,
        ),
        (contact_scenes.RollingSphere(), lambda t: 5 / 14 * 9.81 * math.sin(math.atan(0.3)) * t**2),
    ],
)
def test_a_body_that_moves_by_the_formula_has_no_error(scene, way):
    poses = np.zeros((len(TIMES), 1, 7))
    poses[:, 0, 0] = [way(time) for time in TIMES]
    still = SceneMotion(times=TIMES, poses=np.zeros_like(poses), velocities=np.zeros((len(TIMES), 1, 6)))

    assert scene.error(SceneMotion(times=TIMES, poses=poses, velocities=still.velocities)) == pytest.approx(
        0.0, abs=1e-12
    )
    assert scene.error(still) == pytest.approx(1.0)


class Holding(contact_scenes.LiftOff):
    """The scene with a ground that holds what is up to 0.1 m away."""

    def _surface(self):
        surface = super()._surface()
        surface.ka = 0.1
        return surface


def test_a_contact_that_pulls_across_a_gap_is_noticed():
    row = BenchmarkRow(solver="featherstone", scene="own", dt=0.002)
    free, held = (
        measured(scene, row, {}, device="cpu", patience=60.0) for scene in (contact_scenes.LiftOff(), Holding())
    )

    assert free.error < 0.3 * contact_scenes.LiftOff.limit
    assert held.error > 5.0 * contact_scenes.LiftOff.limit
