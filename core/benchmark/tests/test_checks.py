"""Checks of problems of benchmarks: each notices the fault that it is for."""

from __future__ import annotations

import itertools

import pytest
from pippin_conformance import Conformance

PROBLEM = """
import attrs
import numpy as np
import warp as wp
from pippin_benchmark import BenchmarkProblem

CALLS = []


class Falling(BenchmarkProblem):
    title, unit, limit, duration = "body that falls: way against its formula", "m", 0.1, 0.2

    def build(self, builder):
        body = builder.add_link(label="body", mass=1.0, inertia=wp.mat33(0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1))
        builder.add_articulation([builder.add_joint_free(body)], label="body")

    def error(self, motion):
        return float(np.abs(motion.poses[:, 0, 2] + 0.5 * 9.81 * motion.times**2).max())


class Changed(Falling):
    {change}


@attrs.frozen(kw_only=True)
class FallingConfig:
    implementation = "Changed"
"""

numbers = itertools.count()


@pytest.fixture
def check(tmp_path):
    """Return a function that runs one check on the problem with a change, and returns its result."""

    def run(name, change="pass"):
        file = tmp_path / f"falling_{next(numbers)}.py"
        file.write_text(PROBLEM.replace("{change}", change))
        return Conformance("problem", f"{file}:FallingConfig", solver="featherstone").run(name)

    return run


@pytest.mark.parametrize("name", ["statement", "build", "error", "solver"])
def test_a_problem_that_is_right_passes(check, name):
    result = check(name)

    assert result.outcome == "passed", result.reason


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("statement", "title = ''", "title is missing or empty"),
        ("statement", "limit = -1.0", "expected a positive number, got -1.0"),
        ("statement", "duration = 0.25", "0.25 s is no multiple of 0.1 s"),
        ("statement", "conserves = ('momentum',)", "'momentum' is not measured; there are energy, angular momentum"),
        ("build", "build = lambda self, builder: None", "build adds nothing, and tables has no objects"),
        (
            "build",
            "build = lambda self, b: (Falling.build(self, b), CALLS.append(0), b.body_mass.__setitem__(0, len(CALLS)))",
            "two calls of build differ in body_mass",
        ),
        ("build", "tables = lambda self: {'gravitation': 9.81}", "tables has a wrong key"),
        ("error", "error = lambda self, motion: 0.0", "where bodies fly 1000 m away and turn, and its limit 0.1"),
        ("error", "error = lambda self, motion: float('nan')", "expected a number of at least 0, got nan"),
        ("error", "error = lambda self, motion: motion.poses.__setitem__(0, 7.0) or 1.0", "error changes the motion"),
        ("solver", "limit = 1e-9", "no solver holds it at 0.002 s: featherstone finished, error "),
    ],
)
def test_a_fault_of_a_problem_is_noticed(check, name, change, reason):
    result = check(name, change)

    assert result.outcome == "failed"
    assert reason in result.reason


OF_TABLES = """
import attrs
import numpy as np
from pippin_benchmark import BenchmarkProblem


class Grains(BenchmarkProblem):
    title, unit, limit, duration = "particles that fall: way against the formula", "m", 0.1, 0.2

    def tables(self):
        return {"objects": [{"type": "particles", "label": "grains", "particle_mass": 0.1}]}

    def error(self, motion):
        return float(np.abs(motion.particles[:, 0, 2] + 0.5 * 9.81 * motion.times**2).max())


@attrs.frozen(kw_only=True)
class GrainsConfig:
    implementation = "Grains"
"""


@pytest.mark.parametrize("name", ["build", "error", "solver"])
def test_a_problem_of_tables_with_particles_alone_passes(tmp_path, name):
    file = tmp_path / "grains.py"
    file.write_text(OF_TABLES)
    result = Conformance("problem", f"{file}:GrainsConfig", solver="featherstone").run(name)

    assert result.outcome == "passed", result.reason
