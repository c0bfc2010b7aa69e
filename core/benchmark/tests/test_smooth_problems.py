"""References of smooth problems against formulas, and at half their step."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pippin.quaternions import product
from pippin_benchmark import smooth_problems
from pippin_benchmark.problem import SAMPLE
from pippin_benchmark.reference_motions import PlanarChain, angle_between, rotation

TIMES = SAMPLE * np.arange(11)


@pytest.mark.slow
def test_a_pendulum_has_the_period_of_the_elliptic_integral():
    """T = 4 √(J / m g l) K(sin(θ/2)), by the arithmetic-geometric mean."""
    chain = PlanarChain(angles=(2.0,))
    moment, pull = chain.inertia + chain.mass * chain.length**2 / 4, chain.mass * chain.gravity * chain.length / 2
    larger, smaller = 1.0, math.cos(1.0)
    for _ in range(6):
        larger, smaller = (larger + smaller) / 2, math.sqrt(larger * smaller)
    period = 2.0 * math.pi * math.sqrt(moment / pull) / larger

    assert chain.motion(np.array([period]))[0, 0] == pytest.approx(2.0, abs=1e-9)


def test_a_chain_keeps_its_energy():
    chain = PlanarChain(angles=(1.5, 1.0, -0.3))
    fine = SAMPLE + np.array([-1e-4, 0.0, 1e-4])
    angles = chain.motion(fine)
    rates = (angles[2] - angles[0]) / 2e-4
    points = chain.points(angles)
    speeds = (points[2] - points[0]) / 2e-4

    kinetic = 0.5 * chain.mass * (speeds**2).sum() + 0.5 * chain.inertia * (rates**2).sum()
    fall = chain.mass * chain.gravity * (chain.points(np.array(chain.angles)) - points[1])[:, 1].sum()

    assert kinetic == pytest.approx(fall, rel=1e-6)


@pytest.mark.slow
def test_a_loop_stays_closed():
    problem = smooth_problems.FourBar()
    angles = problem.chain.motion(TIMES)
    ends = -problem.chain.length * np.stack([np.sin(angles), np.cos(angles)]).sum(axis=2)

    np.testing.assert_allclose(ends.T, np.tile(problem.chain.pin, (len(TIMES), 1)), atol=1e-8)
    assert np.ptp(angles, axis=0).min() > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LargePendulum", "DoublePendulum", "LongChain", "FourBar", "DrivenArm"])
def test_the_motion_of_a_chain_has_converged(name):
    """Over the whole problem: half the step gives the same places, far below the limit of the problem."""
    problem = getattr(smooth_problems, name)()
    times = SAMPLE * np.arange(round(problem.duration / SAMPLE) + 1)
    coarse, fine = (problem.chain.points(problem.chain.motion(times, step=step)) for step in (1e-3, 5e-4))

    np.testing.assert_allclose(coarse, fine, atol=1e-4 * problem.limit)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["FreeTop", "FastTop", "Dzhanibekov"])
def test_the_motion_of_a_top_has_converged(name):
    problem = getattr(smooth_problems, name)
    times = SAMPLE * np.arange(round(problem.duration / SAMPLE) + 1)
    top = np.array(problem.principal), np.array(problem.spin), times

    np.testing.assert_allclose(angle_between(rotation(*top), rotation(*top, step=5e-4)), 0.0, atol=1e-4 * problem.limit)


@pytest.mark.slow
def test_a_symmetric_top_turns_as_the_formula_says():
    """R(t) = exp(L t / I₁) exp((1 - I₃ / I₁) ω₃ t e₃), with the angular momentum L."""
    (across, _, along), spin = smooth_problems.FreeTop.principal, np.array(smooth_problems.FreeTop.spin)
    momentum = np.array([across, across, along]) * spin / across

    def turned(vector):
        angle = np.linalg.norm(vector)
        return np.append(np.sin(angle / 2) * vector / angle, np.cos(angle / 2))

    own = np.array([0.0, 0.0, (1.0 - along / across) * spin[2]])
    truth = np.array([product(turned(momentum * time), turned(own * time)) for time in TIMES[1:]])

    found = rotation(np.array(smooth_problems.FreeTop.principal), spin, TIMES[1:])

    np.testing.assert_allclose(angle_between(found, truth), 0.0, atol=1e-6)
