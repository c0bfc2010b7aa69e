"""Problems of matter: their formulas against others, and against solvers with and without the feature."""

from __future__ import annotations

import numpy as np
import pytest
from pippin_benchmark.measuring import measured
from pippin_benchmark.problem import SAMPLE, ProblemMotion
from pippin_benchmark.result import BenchmarkRow
from pippin_benchmark.smooth_problems import HangingCloth, RodCantilever, ThrownGrains

TIMES = SAMPLE * np.arange(11)


def error_of(problem, solver, dt):
    row = measured(problem, BenchmarkRow(solver=solver, problem="own", dt=dt), {}, device="cpu", patience=60.0)
    assert row.outcome == "finished", row.reason
    return row.error


def bent(problem):
    """Return a motion that follows the formula of a problem."""
    poses = np.zeros((len(TIMES), problem.segments, 7))
    poses[:, -1, 2] = [-problem.sag(time) for time in TIMES]
    return ProblemMotion(times=TIMES, poses=poses, velocities=np.zeros((len(TIMES), problem.segments, 6)))


class SoftRod(RodCantilever):
    young = 0.7 * RodCantilever.young


class SoftCloth(HangingCloth):
    lame = 0.02 * HangingCloth.lame


def test_a_rod_swings_about_the_sag_of_its_weight():
    """The mean over long times is the static formula, which is no sum over modes."""
    problem = RodCantilever()
    mean = np.mean([problem.sag(time) for time in np.linspace(0.0, 1000.0, 20001)])

    assert mean == pytest.approx(problem.static_sag, rel=1e-3)


@pytest.mark.alone
def test_a_rod_of_another_stiffness_has_an_error():
    assert RodCantilever().error(bent(RodCantilever())) == pytest.approx(0.0, abs=1e-12)
    assert RodCantilever().error(bent(SoftRod())) > 2.0 * RodCantilever.limit


@pytest.mark.slow
def test_a_rod_holds_its_problem_by_its_own_stiffness_alone():
    soft = SoftRod()
    soft.error = RodCantilever().error

    assert error_of(RodCantilever(), "vbd", 0.001) < RodCantilever.limit / 2.0
    assert error_of(soft, "vbd", 0.001) > 2.0 * RodCantilever.limit


def test_the_motion_of_a_strip_has_converged():
    chain = HangingCloth().chain

    np.testing.assert_allclose(chain.motion(TIMES[:5]), chain.motion(TIMES[:5], step=5e-4), atol=1e-6)


@pytest.mark.slow
def test_a_strip_sways_as_the_chain_if_it_resists_stretching_alone():
    assert error_of(HangingCloth(), "featherstone", 0.0005) < HangingCloth.limit / 5.0
    assert error_of(SoftCloth(), "featherstone", 0.0005) > 2.0 * HangingCloth.limit


def test_a_grain_that_flies_by_another_gravity_has_an_error():
    problem, times = ThrownGrains(), TIMES[:6, None]
    start = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.05]])

    def flown(gravity):
        way = np.concatenate([problem.speed * times, 0.0 * times, -0.5 * gravity * times**2], axis=1)
        return ProblemMotion(
            times=TIMES[:6],
            poses=np.zeros((6, 0, 7)),
            velocities=np.zeros((6, 0, 6)),
            particles=start + way[:, None],
        )

    assert problem.error(flown(9.81)) == pytest.approx(0.0, abs=1e-12)
    assert problem.error(flown(9.0)) == pytest.approx(0.5 * 0.81 * 0.25)
    assert problem.error(flown(9.0)) > problem.limit


@pytest.mark.slow
def test_grains_of_implicit_mpm_are_off_by_a_first_order_of_the_step():
    assert error_of(ThrownGrains(), "implicit-mpm", 0.01) == pytest.approx(0.5 * 9.81 * 0.5 * 0.01, rel=0.05)
