"""The quadruped that falls: the formula of its rest, and solvers with and without what carries it."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from pippin_benchmark.measuring import measured, prototype_of
from pippin_benchmark.quadruped_problem import Leg, QuadrupedDrop
from pippin_benchmark.result import BenchmarkRow


def error_of(problem):
    row = measured(problem, BenchmarkRow(solver="steel", problem="own", dt=0.01), {}, device="cpu", patience=60.0)
    assert row.outcome == "finished", row.reason
    return row.error


def changed(**keys):
    """Return the problem with another leg, whose motion is judged as that of the true one."""
    problem = QuadrupedDrop()
    problem.leg = attrs.evolve(Leg(), **keys)
    problem.error = QuadrupedDrop().error
    return problem


def test_a_leg_at_rest_is_in_balance():
    """The moments about the hip and the knee of weight, ground and drive, with the ground's force along x unknown."""
    leg = Leg()
    thigh, shank = leg.standing
    upper, lower = (leg.gravity * mass for mass in leg.masses)
    normal = leg.gravity * leg.trunk + upper + lower
    half = 0.5 * leg.length
    hip = leg.stiffness * (leg.thigh - thigh)
    knee = leg.stiffness * (leg.shank - leg.thigh - shank + thigh)
    # Moments about y, x forwards and z up: a force (f, n) at (x, z) has z f - x n.
    foot = np.array([-leg.length * np.sin(shank), -leg.length * np.cos(shank) - leg.foot])
    of_ground = foot[0] * normal + half * np.sin(shank) * lower
    along = (of_ground - knee) / foot[1]
    contact = np.array([leg.reach(thigh, shank), -leg.height(thigh, shank)])
    middle = -leg.length * np.sin(thigh) - half * np.sin(shank)
    about_hip = contact[1] * along - contact[0] * normal - middle * -lower - -half * np.sin(thigh) * -upper

    assert hip + about_hip == pytest.approx(0.0, abs=1e-4)
    assert abs(along) < 0.5 * normal, "the foot would slide"


def test_a_foot_rolls_from_where_it_landed():
    leg = Leg()
    thigh, shank = leg.standing

    assert leg.reach(leg.thigh, leg.shank) == pytest.approx(0.0, abs=1e-15)
    assert leg.reach(thigh, shank) == pytest.approx(leg.foot * (shank - leg.shank), abs=1e-12)
    assert 0.002 < leg.height(leg.thigh, leg.shank) - leg.height(thigh, shank) < 0.05


def test_links_stand_where_their_joints_place_them():
    problem = QuadrupedDrop()
    leg, builder = problem.leg, prototype_of(problem)
    feet = [z - leg.length * np.cos(leg.shank) for z in np.array(builder.body_q)[2::2, 2]]

    assert feet == pytest.approx([problem.drop + leg.foot] * 4, abs=1e-6)


@pytest.mark.slow
def test_a_quadruped_rests_where_its_drives_and_its_friction_hold_it():
    slippery = QuadrupedDrop()
    slippery.friction = 0.0

    assert error_of(QuadrupedDrop()) < 1e-3
    assert error_of(changed(stiffness=12.0)) > QuadrupedDrop.limit
    assert error_of(slippery) > QuadrupedDrop.limit
