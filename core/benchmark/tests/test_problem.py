"""Problems of benchmarks: what each states, and its content."""

from __future__ import annotations

import pytest
from pippin.catalog.entries import Catalog
from pippin_benchmark.benchmark import load_problem
from pippin_benchmark.measuring import still_motion
from pippin_benchmark.problem import SAMPLE

RESTING = {"block-at-rest", "gripped-cube", "pyramid", "stack"}
"""Problems that are right if nothing moves."""


@pytest.mark.parametrize("name", Catalog.installed().names("problem"))
def test_a_problem_says_what_it_is_and_builds(name):
    problem = load_problem(name)
    still = still_motion(problem)

    assert still.poses.shape[1] or still.particles.shape[1]
    assert problem.duration / SAMPLE == pytest.approx(round(problem.duration / SAMPLE))
    assert problem.limit > 0.0
    assert problem.title
    assert {*problem.conserves} <= {"energy", "angular momentum"}


@pytest.mark.slow
@pytest.mark.parametrize("name", Catalog.installed().names("problem"))
def test_a_world_in_which_nothing_moves_holds_the_problems_at_rest_alone(name):
    problem = load_problem(name)

    assert (problem.error(still_motion(problem)) <= problem.limit) == (name in RESTING)
