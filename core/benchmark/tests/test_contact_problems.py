"""Errors of problems with contacts, for bodies that move by the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pippin_benchmark import contact_problems
from pippin_benchmark.measuring import measured
from pippin_benchmark.problem import SAMPLE, ProblemMotion
from pippin_benchmark.result import BenchmarkRow

TIMES = SAMPLE * np.arange(11)


@pytest.mark.parametrize(
    ("problem", "way"),
    [
        (
            contact_problems.SlidingBlock(),
            lambda t: 0.5 * 9.81 * (math.sin(math.atan(0.5)) - 0.2 * math.cos(math.atan(0.5))) * t**2,
        ),
        (contact_problems.RollingSphere(), lambda t: 5 / 14 * 9.81 * math.sin(math.atan(0.3)) * t**2),
    ],
)
def test_a_body_that_moves_by_the_formula_has_no_error(problem, way):
    poses = np.zeros((len(TIMES), 1, 7))
    poses[:, 0, 0] = [way(time) for time in TIMES]
    still = ProblemMotion(times=TIMES, poses=np.zeros_like(poses), velocities=np.zeros((len(TIMES), 1, 6)))

    assert problem.error(ProblemMotion(times=TIMES, poses=poses, velocities=still.velocities)) == pytest.approx(
        0.0, abs=1e-12
    )
    assert problem.error(still) == pytest.approx(1.0)


def turned(angles):
    """Return a motion of bodies that turn about y by some angles, shape [samples, bodies]."""
    poses = np.zeros((*angles.shape, 7))
    poses[..., 4], poses[..., 6] = np.sin(angles / 2.0), np.cos(angles / 2.0)
    return ProblemMotion(times=TIMES[: len(angles)], poses=poses, velocities=np.zeros((*angles.shape, 6)))


def test_a_box_that_tips_obeys_the_moments_about_its_edge():
    """The leapfrog method with the inertia of a cube about its edge, s²/6 + s²/2 for each kilogram."""
    side, angle, rate, step, angles = 0.2, 0.2, 0.0, 1e-5, [0.2]
    pull = 9.81 * side / math.sqrt(2.0) / (side**2 / 6.0 + side**2 / 2.0)
    for _ in range(2):
        for _ in range(10_000):
            rate += 0.5 * step * pull * math.sin(angle)
            angle += step * rate
            rate += 0.5 * step * pull * math.sin(angle)
        angles.append(angle)
    leaning = math.pi / 4.0 + np.array(angles)[:, None]

    assert contact_problems.TippingBox().error(turned(leaning)) < 1e-6
    assert contact_problems.TippingBox().error(turned(0.7 * leaning)) > contact_problems.TippingBox.limit


@pytest.mark.parametrize(("restitution", "holds"), [(0.7, True), (0.6, False)])
def test_a_ball_that_loses_speed_at_each_bounce_follows_the_parabolas(restitution, holds):
    height, speed, step, heights = 0.5, 0.0, 1e-5, [0.5]
    for _ in range(10):
        for _ in range(10_000):
            speed -= step * 9.81
            height += step * speed
            if height < 0.0 and speed < 0.0:
                speed *= -restitution
        heights.append(height)
    poses = np.zeros((11, 1, 7))
    poses[:, 0, 2] = np.array(heights) + 0.1
    motion = ProblemMotion(times=TIMES, poses=poses, velocities=np.zeros((11, 1, 6)))

    assert (contact_problems.Bounces().error(motion) < 2e-4) == holds
    assert (contact_problems.Bounces().error(motion) < contact_problems.Bounces.limit) == holds


def test_a_cradle_passes_the_swing_on_to_the_last_ball_alone():
    falls, rests = 0.5 * np.cos(TIMES[:7, None] * 4.4), np.zeros((7, 3))
    passed, together = (
        np.concatenate([np.maximum(falls, 0.0), between, np.minimum(falls, 0.0) * (0.5 / -falls.min())], axis=1)
        for between in (rests, 0.5 * rests + np.minimum(falls, 0.0))
    )

    assert contact_problems.Cradle().error(turned(passed)) == pytest.approx(0.0, abs=1e-9)
    assert contact_problems.Cradle().error(turned(together)) > contact_problems.Cradle.limit


class Holding(contact_problems.LiftOff):
    """The problem with a ground that holds what is up to 0.1 m away."""

    def _surface(self):
        surface = super()._surface()
        surface.ka = 0.1
        return surface


def test_a_contact_that_pulls_across_a_gap_is_noticed():
    row = BenchmarkRow(solver="featherstone", problem="own", dt=0.002)
    free, held = (
        measured(problem, row, {}, device="cpu", patience=60.0) for problem in (contact_problems.LiftOff(), Holding())
    )

    assert free.error < 0.3 * contact_problems.LiftOff.limit
    assert held.error > 5.0 * contact_problems.LiftOff.limit
