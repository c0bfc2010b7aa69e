"""Checks of a scene of benchmarks: what it states, what it builds, its error of motions, and a solver that holds it."""

from __future__ import annotations

import copy
import math

import attrs
import numpy as np
import pippin
from pippin import ConfigError, PluginError
from pippin.catalog import Catalog
from pippin_conformance import KindChecks, check
from pippin_conformance.runs import Runs

from pippin_benchmark.benchmark import load_scene
from pippin_benchmark.measuring import measured, prototype_of, still_motion
from pippin_benchmark.result import BenchmarkRow
from pippin_benchmark.scene import SAMPLE, BenchmarkScene, SceneMotion

_KEPT = ("energy", "angular momentum")

_BUILT = ("body_q", "body_mass", "joint_q", "joint_qd", "particle_q", "particle_qd", "particle_mass")
"""Rows of a builder that two builds of a scene have in common."""

_AWAY = 1e3
"""Distance from the start of a motion that no scene holds [m]."""

_PATIENCE = 20.0
"""Largest cost of a run [s]."""


def check_statement(runs: Runs) -> None:
    """The scene has a title, a unit, a positive limit of the error, and a duration of whole samples, and it knows what
    its world conserves.
    """
    scene = _scene(runs)
    for name in ("title", "unit", "limit"):
        if not getattr(scene, name, None):
            raise PluginError(f"{runs.subject}: {name} is missing or empty; set it in the class")
    if not (math.isfinite(scene.limit) and scene.limit > 0.0):
        raise PluginError(f"{runs.subject}: limit: expected a positive number, got {scene.limit!r}")
    samples = scene.duration / SAMPLE
    if not (samples > 0.5 and math.isclose(samples, round(samples), rel_tol=1e-9)):
        raise PluginError(f"{runs.subject}: duration: {scene.duration!r} s is no multiple of {SAMPLE:g} s; take one")
    for name in scene.conserves:
        if name not in _KEPT:
            raise PluginError(f"{runs.subject}: conserves: {name!r} is not measured; there are {', '.join(_KEPT)}")


def check_build(runs: Runs) -> None:
    """`build` adds the same content each time, or `tables` has it, as keys of `[scene]`, which are the only ones."""
    scene, subject = _scene(runs), runs.subject
    try:
        stated = pippin.structure({"scene": dict(scene.tables())}).scene
    except ConfigError as error:
        raise PluginError(f"{subject}: tables has a wrong key or value of [scene]: {error}") from error
    first, again = (prototype_of(each) for each in (scene, _scene(runs)))
    if first is None or again is None:
        if not (stated.objects or stated.assets):
            raise PluginError(f"{subject}: build adds nothing, and tables has no objects; add a body or particles")
        return
    for name in _BUILT:
        if not np.array_equal(np.array(getattr(first, name)), np.array(getattr(again, name))):
            raise PluginError(f"{subject}: two calls of build differ in {name}; draw no random numbers there")


def check_error(runs: Runs) -> None:
    """The error of a motion is a number that is not negative, the same for the same motion, which it leaves as it is.
    It is above the limit if bodies and particles fly away.
    """
    scene, subject = _scene(runs), runs.subject
    still = still_motion(scene)
    before = copy.deepcopy(attrs.astuple(still, recurse=False))
    errors = [scene.error(still), _scene(runs).error(still)]
    if not (isinstance(errors[0], float) and errors[0] >= 0.0):
        raise PluginError(f"{subject}: error: expected a number of at least 0, got {errors[0]!r} where nothing moves")
    if errors[0] != errors[1]:
        raise PluginError(f"{subject}: error is {errors[0]!r}, and then {errors[1]!r} for the same motion")
    if not all(map(np.array_equal, attrs.astuple(still, recurse=False), before)):
        raise PluginError(f"{subject}: error changes the motion; work on a copy")
    away = scene.error(_flown(still))
    if not away > scene.limit:
        raise PluginError(
            f"{subject}: error is {away:.3g} where bodies fly {_AWAY:g} m away and turn, and its limit {scene.limit:g};"
            " compare the motion with a reference"
        )


def check_solver(runs: Runs) -> None:
    """An installed solver holds the scene at the step of the tests: its error is below the limit."""
    subject, scene = runs.subject, _scene(runs)
    names = (subject.solver,) if subject.solver else Catalog.installed().names_without_settings("solver")
    found = []
    for name in names:
        row = BenchmarkRow(solver=name, scene=subject.name, dt=subject.dt)
        row = measured(scene, row, {}, device="cpu", patience=_PATIENCE)
        if row.error is not None and row.error <= scene.limit:
            return
        found.append(f"{name} {row.outcome}, " + (row.reason or f"error {row.error:.3g}"))
    raise PluginError(f"{subject}: no solver holds it at {subject.dt:g} s: {'; '.join(found) or 'none is installed'}")


def _scene(runs: Runs) -> BenchmarkScene:
    return load_scene(runs.subject.name)


def _flown(still: SceneMotion) -> SceneMotion:
    """Return a motion whose bodies and particles leave their places for good; bodies turn by half a turn about y."""
    poses, share = still.poses.copy(), (still.times / still.times[-1])[:, None]
    poses[:, :, :3] += _AWAY * share[..., None]
    poses[:, :, 3:] = np.stack(
        np.broadcast_arrays(0.0 * share, np.sin(1.5 * share), 0.0 * share, np.cos(1.5 * share)), axis=-1
    )
    return attrs.evolve(still, poses=poses, particles=still.particles + _AWAY * share[..., None])


SCENE = KindChecks(own=tuple(map(check, (check_statement, check_build, check_error, check_solver))))
