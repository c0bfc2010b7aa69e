"""Checks by name: each is a small function whose docstring is the promise, with the kinds of plugins it is for."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

import attrs

from . import (
    actuator_checks,
    claims,
    configuration,
    content_checks,
    controller_checks,
    executor_checks,
    observer_checks,
    physics,
    runtime_change_checks,
    scene_checks,
    sensor_checks,
    step_checks,
    term_checks,
    terrain_checks,
)
from .benches import BENCHES, benches_of
from .kinds import CARRIED, CONFIGURED, CONTENT, OBSERVERS, PARTS, SIMULATED, TERMS
from .runs import Runs
from .runtime_changes import RUNTIME_CHANGES


@attrs.frozen(kw_only=True)
class Check:
    """A promise of plugins, and the function that checks it."""

    name: str
    """Name of the check, as in `expected_failures`."""

    promise: str
    """The promise, in one paragraph."""

    kinds: tuple[str, ...]
    """The kinds of plugins that make the promise."""

    run: Callable[[Runs], None]
    """For the core: raises `PluginError` if the promise is broken, `NotApplicableError` if it is not made."""


def _check(run: Callable[[Runs], None], *kinds: str) -> Check:
    """Return the check of a function, with its docstring as the promise."""
    promise = " ".join((inspect.getdoc(run) or "").split())
    return Check(name=run.__name__.removeprefix("check_"), promise=promise, kinds=kinds, run=run)


def _feature(name: str) -> Check:
    """Return the check of one feature."""
    promise = f"If the solver declares `{name}`: {'; '.join(BENCHES[each].expectation for each in benches_of(name))}."
    run = functools.partial(claims.check_feature, name=name)
    return Check(name=f"feature_{name}", promise=promise, kinds=("solver",), run=run)


def _runtime_change(name: str) -> Check:
    """Return the check of one runtime change."""
    promise = f"`{name}` in one world: {RUNTIME_CHANGES[name].expectation}, there alone; or it is refused."
    run = functools.partial(runtime_change_checks.check_runtime_change, name=name)
    return Check(name=f"change_{name}", promise=promise, kinds=("solver",), run=run)


_STEPPED = (*PARTS, *CARRIED, *TERMS, "controller", "motion", "plugin")
"""Kinds that act within the step, and may be recorded."""

_FORGETTING = tuple(kind for kind in _STEPPED if kind != "curriculum")
"""Those of which a reset forgets what they remember of a world. A curriculum lasts longer than an episode."""

CHECKS = (
    _check(configuration.check_entry_point, *CONFIGURED),
    _check(configuration.check_light_import, *CONFIGURED),
    _check(configuration.check_documented_keys, *CONFIGURED),
    _check(configuration.check_round_trip, *CONFIGURED),
    _check(configuration.check_unknown_keys, *CONFIGURED),
    _check(configuration.check_schema, *CONFIGURED),
    _check(step_checks.check_lifecycle, *SIMULATED),
    _check(step_checks.check_capture, *_STEPPED),
    _check(step_checks.check_determinism, *_STEPPED),
    _check(step_checks.check_substeps, "solver", "actuator", "clamping"),
    _check(step_checks.check_allocation, *_STEPPED, "recorder"),
    _check(step_checks.check_reset, *_FORGETTING),
    _check(step_checks.check_worlds, *_FORGETTING),
    _check(step_checks.check_checkpoint, *SIMULATED),
    _check(step_checks.check_side_by_side, *SIMULATED),
    _check(physics.check_free_fall, "solver"),
    _check(physics.check_pendulum, "solver"),
    _check(claims.check_coordinates, "solver"),
    _check(claims.check_contacts, "solver"),
    _check(claims.check_features, "solver"),
    *map(_feature, dict.fromkeys(name.partition(" ")[0] for name in BENCHES)),
    _check(claims.check_feature_gravity, "solver"),
    _check(claims.check_feature_heterogeneous_worlds, "solver"),
    _check(claims.check_feature_particle_worlds, "solver"),
    _check(claims.check_feature_gradients, "solver"),
    _check(claims.check_observables, "solver"),
    _check(claims.check_model_changes, "solver"),
    *map(_runtime_change, RUNTIME_CHANGES),
    _check(actuator_checks.check_efforts, "actuator"),
    _check(actuator_checks.check_driven_joints, "actuator"),
    _check(actuator_checks.check_addition, "actuator"),
    _check(actuator_checks.check_open_loop, "actuator"),
    _check(sensor_checks.check_outputs, "sensor"),
    _check(sensor_checks.check_readings, "sensor", "stage"),
    _check(step_checks.check_effect, *CARRIED, "action", "event", "motion"),
    _check(controller_checks.check_goals, "controller"),
    _check(controller_checks.check_targets, "controller"),
    _check(term_checks.check_labels, "quantity", "action", "command"),
    _check(term_checks.check_numbers, "quantity", "reward", "metric"),
    _check(term_checks.check_verdicts, "termination"),
    _check(term_checks.check_actions, "action"),
    _check(term_checks.check_mask, "event", "command"),
    _check(step_checks.check_intervals, "event"),
    _check(
        observer_checks.check_observation, "sensor", "stage", *OBSERVERS, "quantity", "reward", "termination", "metric"
    ),
    _check(observer_checks.check_folder, *OBSERVERS),
    _check(observer_checks.check_frames, "viewer"),
    _check(observer_checks.check_rows, "recorder"),
    _check(observer_checks.check_reading, "reader"),
    _check(executor_checks.check_jobs, "executor"),
    _check(content_checks.check_content, *CONTENT),
    _check(content_checks.check_place, *CONTENT),
    _check(content_checks.check_options, "importer"),
    _check(content_checks.check_copies, "object"),
    _check(content_checks.check_simulation, *CONTENT),
    _check(terrain_checks.check_ground, "terrain"),
    _check(terrain_checks.check_stand, "terrain"),
    _check(scene_checks.check_statement, "scene"),
    _check(scene_checks.check_build, "scene"),
    _check(scene_checks.check_error, "scene"),
    _check(scene_checks.check_solver, "scene"),
)
"""Every check, in the order in which they run: cheap ones, and those that others build on, come first."""


def checks_for(kind: str) -> tuple[Check, ...]:
    """Return the checks of a kind of plugin."""
    return tuple(check for check in CHECKS if kind in check.kinds)
