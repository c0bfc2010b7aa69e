"""Checks of a problem of benchmarks: what it states and builds, its error of motions, and a solver that holds it."""

from __future__ import annotations

import copy
import math

import attrs
import numpy as np
import pippin
from pippin import ConfigError
from pippin.catalog import Catalog
from pippin_conformance import KindChecks, Runs, check

from pippin_benchmark.benchmark import load_problem
from pippin_benchmark.measuring import measured, prototype_of, still_motion
from pippin_benchmark.problem import SAMPLE, BenchmarkProblem, ProblemMotion
from pippin_benchmark.result import BenchmarkRow

_KEPT = ("energy", "angular momentum")

_BUILT = ("body_q", "body_mass", "joint_q", "joint_qd", "particle_q", "particle_qd", "particle_mass")
"""Rows of a builder that two builds of a problem have in common."""

_AWAY = 1e3
"""Distance from the start of a motion that no problem holds [m]."""

_PATIENCE = 20.0
"""Largest cost of a run [s]."""


def check_statement(runs: Runs) -> None:
    """The problem has a title, a unit, a positive limit of the error, and a duration of whole samples, and it knows
    what its world conserves.
    """
    problem = _problem(runs)
    for name in ("title", "unit", "limit"):
        if not getattr(problem, name, None):
            raise runs.fault(f"{name} is missing or empty; set it in the class")
    if not (math.isfinite(problem.limit) and problem.limit > 0.0):
        raise runs.fault(f"limit: expected a positive number, got {problem.limit!r}")
    samples = problem.duration / SAMPLE
    if not (samples > 0.5 and math.isclose(samples, round(samples), rel_tol=1e-9)):
        raise runs.fault(f"duration: {problem.duration!r} s is no multiple of {SAMPLE:g} s; take one")
    for name in problem.conserves:
        if name not in _KEPT:
            raise runs.fault(f"conserves: {name!r} is not measured; there are {', '.join(_KEPT)}")


def check_build(runs: Runs) -> None:
    """`build` adds the same content each time, or `tables` has it, as keys of `[scene]`, which are the only ones."""
    problem = _problem(runs)
    try:
        stated = pippin.structure({"scene": dict(problem.tables())}).scene
    except ConfigError as error:
        raise runs.fault(f"tables has a wrong key or value of [scene]: {error}") from error
    first, again = (prototype_of(each) for each in (problem, _problem(runs)))
    if first is None or again is None:
        if not (stated.objects or stated.assets):
            raise runs.fault("build adds nothing, and tables has no objects; add a body or particles")
        return
    for name in _BUILT:
        if not np.array_equal(np.array(getattr(first, name)), np.array(getattr(again, name))):
            raise runs.fault(f"two calls of build differ in {name}; draw no random numbers there")


def check_error(runs: Runs) -> None:
    """The error of a motion is a number that is not negative, the same for the same motion, which it leaves as it is.
    It is above the limit if bodies and particles fly away.
    """
    problem = _problem(runs)
    still = still_motion(problem)
    before = copy.deepcopy(attrs.astuple(still, recurse=False))
    errors = [problem.error(still), _problem(runs).error(still)]
    if not (isinstance(errors[0], float) and errors[0] >= 0.0):
        raise runs.fault(f"error: expected a number of at least 0, got {errors[0]!r} where nothing moves")
    if errors[0] != errors[1]:
        raise runs.fault(f"error is {errors[0]!r}, and then {errors[1]!r} for the same motion")
    if not all(map(np.array_equal, attrs.astuple(still, recurse=False), before)):
        raise runs.fault("error changes the motion; work on a copy")
    away = problem.error(_flown(still))
    if not away > problem.limit:
        raise runs.fault(
            f"error is {away:.3g} where bodies fly {_AWAY:g} m away and turn, and its limit {problem.limit:g}; compare"
            " the motion with a reference"
        )


def check_solver(runs: Runs) -> None:
    """An installed solver holds the problem at the step of the tests: its error is below the limit."""
    subject, problem = runs.subject, _problem(runs)
    names = (subject.solver,) if subject.solver else Catalog.installed().names_without_settings("solver")
    found = []
    for name in names:
        row = BenchmarkRow(solver=name, problem=subject.name, dt=subject.dt)
        row = measured(problem, row, {}, device="cpu", patience=_PATIENCE)
        if row.error is not None and row.error <= problem.limit:
            return
        found.append(f"{name} {row.outcome}, " + (row.reason or f"error {row.error:.3g}"))
    raise runs.fault(f"no solver holds it at {subject.dt:g} s: {'; '.join(found) or 'none is installed'}")


def _problem(runs: Runs) -> BenchmarkProblem:
    return load_problem(runs.subject.name)


def _flown(still: ProblemMotion) -> ProblemMotion:
    """Return a motion whose bodies and particles leave their places for good; bodies turn by half a turn about y."""
    poses, share = still.poses.copy(), (still.times / still.times[-1])[:, None]
    poses[:, :, :3] += _AWAY * share[..., None]
    poses[:, :, 3:] = np.stack(
        np.broadcast_arrays(0.0 * share, np.sin(1.5 * share), 0.0 * share, np.cos(1.5 * share)), axis=-1
    )
    return attrs.evolve(still, poses=poses, particles=still.particles + _AWAY * share[..., None])


PROBLEM = KindChecks(own=(*map(check, (check_statement, check_build, check_error)), check(check_solver, 1.0)))
